// The realm in which the expressions of one document are evaluated.
//
// Prototype chain of the global object:
//
//     globalThis     empty while expressions are only read; the working copies while they may be changed
//     -> visible     the variables and system variables, deep-frozen and read-only
//     -> builtins    what the language brings, frozen
//     -> Object.prototype
//
// Variables arrive as JSON text and are parsed when they are first touched.
// Values that JSON lacks travel as {"@js": kind, ...}; an object of the
// document that has a member "@js" itself travels as {"@js": "object", "value": {...}}.
//
// Nothing below may depend on what a document could replace: a method of a
// builtin, or a global name, which a variable can hide. All are captured first.
//
// `scripts` are [text, [start, ...]] pairs: the starts of what stands at the top level of the text.
(function (ids, scripts, variables) {
  "use strict";
  const G = globalThis;
  const { Array, Date, Error, Function, JSON, Map, Number, Object, Reflect, Set, String, Symbol, SyntaxError, TypeError, WeakMap,
          WeakSet } = G;
  const { ownKeys, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf,
          isExtensible, construct } = Reflect;
  const { freeze, keys, create, is } = Object;
  const { isArray } = Array;
  const { parse, stringify } = JSON;
  const { isFinite } = Number;
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const mapGet = uncurry(Map.prototype.get), mapSet = uncurry(Map.prototype.set), mapHas = uncurry(Map.prototype.has),
        mapDelete = uncurry(Map.prototype.delete), setHas = uncurry(Set.prototype.has),
        setAdd = uncurry(Set.prototype.add), setDelete = uncurry(Set.prototype.delete),
        weakHas = uncurry(WeakSet.prototype.has), weakAdd = uncurry(WeakSet.prototype.add),
        weakGet = uncurry(WeakMap.prototype.get), weakSet = uncurry(WeakMap.prototype.set),
        source = uncurry(Function.prototype.toString), tagOf = uncurry(Object.prototype.toString),
        toISO = uncurry(Date.prototype.toISOString), timeOf = uncurry(Date.prototype.getTime),
        mapClear = uncurry(Map.prototype.clear), indexOf = uncurry(String.prototype.indexOf),
        slice = uncurry(String.prototype.slice), startsWith = uncurry(String.prototype.startsWith);
  const { iterator } = Symbol;
  const evaluateGlobally = eval;
  const ObjectPrototype = Object.prototype, ArrayPrototype = Array.prototype, FunctionPrototype = Function.prototype,
        RealDate = Date, DatePrototype = Date.prototype, Fault = Error, TypeFault = TypeError, SyntaxFault = SyntaxError;

  const visible = create(null), builtins = create(ObjectPrototype);
  const records = create(null);   // variable -> {text, tagged} or {value} for a primitive
  const readers = create(null), thawers = create(null), writers = create(null);
  const fixed = new Set(["undefined", "NaN", "Infinity"]);
  const system = new Set(["_event", "_sessionid", "_name", "_ioprocessors", "_x"]);
  const declared = new Map();     // name -> function of the top-level scripts
  const declaredByText = new Map(), declaredByPrototype = new Map();
  const texts = [];               // {text, starts}: everything a function may have been written in
  const openness = new Map(), functions = new Map();  // by source: whether it stands at the top level; the function
  const heap = new Map(), heapIds = new Map();
  let heapNext = 1;
  const frozenDates = new WeakSet();
  let active = "";
  const bits = new Map();
  for (let i = 0; i < ids.length; i++) if (ids[i] !== null) mapSet(bits, ids[i], i);

  //#include ecmascript_values.js
  //#include ecmascript_dom.js

  // ------------------------------------------------------------- the variables

  function reader(name) {
    return readers[name] || (readers[name] = function () {
      const record = records[name];
      const value = decode(record.text, record.tagged, true);
      defineProperty(visible, name, { __proto__: null, value, writable: false, enumerable: true, configurable: true });
      return value;
    });
  }

  function load(name, text, tagged) {
    records[name] = { text, tagged };
    defineProperty(visible, name, { __proto__: null, get: reader(name), set: undefined, enumerable: true, configurable: true });
  }

  function loadPrimitive(name, value) {
    records[name] = { text: undefined, tagged: false, value };
    defineProperty(visible, name, { __proto__: null, value, writable: false, enumerable: true, configurable: true });
  }

  function unload(name) {
    delete records[name];
    delete visible[name];
  }

  function showAs(name, other) {
    defineProperty(visible, name, { __proto__: null, value: visible[other], writable: false, enumerable: true, configurable: true });
  }

  function own(name, value) {
    defineProperty(G, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  }

  function thawed(name) {
    const record = records[name];
    return record.text === undefined ? record.value : decode(record.text, record.tagged, false);
  }

  function lend(name) {
    if (thawers[name] === undefined) {
      const guarded = setHas(system, name);
      thawers[name] = guarded ? function () { return visible[name]; }
        : function () { const value = thawed(name); own(name, value); return value; };
      writers[name] = guarded ? function () { readOnly(name); } : function (value) { own(name, value); };
    }
    defineProperty(G, name, { __proto__: null, get: thawers[name], set: writers[name], enumerable: true, configurable: true });
  }

  function readOnly(name) {
    throw new TypeFault("the system variable " + name + " is read-only");
  }

  function begin(words) {
    const names = words === null ? keys(records) : words;
    for (let i = 0; i < names.length; i++) if (records[names[i]] !== undefined) lend(names[i]);
  }

  function explained(thrown) {
    // what the binding can show; the text of an Error it shows itself
    if (thrown === null || thrown instanceof Fault) return thrown;  // null: there was no memory for an Error
    let text;
    try { text = isPlain(thrown, new Set()) ? stringify(thrown) : describe(thrown); } catch { text = "a value"; }
    return new Thrown(text);
  }
  function Thrown(text) { this.text = text; }
  Thrown.prototype = { __proto__: Fault.prototype, toString() { return "it threw " + this.text; } };

  const spoilt = "the global object cannot be cleaned";

  function sweep() {
    const names = ownKeys(G);
    if (!isExtensible(G)) throw new Fault(spoilt);
    if (names.length === 3) return;
    for (let i = 0; i < names.length; i++)
      if (!setHas(fixed, names[i]) && !deleteProperty(G, names[i])) throw new Fault(spoilt);
  }

  function finish() {
    // the variables that changed, as the text of an object; the realm then shows the new values
    const names = ownKeys(G), changed = [];
    let result = "{";
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name === "symbol" || setHas(fixed, name)) continue;
      const property = getOwnPropertyDescriptor(G, name);
      if (property.get !== undefined && property.get === thawers[name]) continue;
      if (setHas(system, name)) readOnly(name);
      const text = encode("value" in property ? property.value : G[name]);
      const record = records[name];
      const tagged = tagsSeen;
      if (record !== undefined && (record.text === undefined ? encode(record.value) : record.text) === text) continue;
      changed[changed.length] = { name, text, tagged };
      result += (changed.length > 1 ? "," : "") + stringify(name) + ":" + text;
    }
    sweep();
    for (let i = 0; i < changed.length; i++) load(changed[i].name, changed[i].text, changed[i].tagged);
    return result + "}";
  }

  // --------------------------------------------------------------- operations

  // a long concatenation is a rope, which the binding cannot take over
  const flat = (text) => slice(text, 0);

  const operations = {
    load, loadPrimitive, unload, showAs, release, sweep,
    learn(text, starts) { learn(parse(text), parse(starts)); },
    activate(text) { active = text; },
    list(text) { return parse(text); },
    compile(json) {
      const text = parse(json);
      const made = evaluateGlobally(text);
      sweep();
      // "0); }), (function () { return (1" would be two expressions
      if (typeof made !== "function" || "(" + source(made) + ")" !== text) throw new SyntaxFault("it is not one expression");
      return made;
    },
    test(f) {
      try { return !!f(); } catch (thrown) { throw explained(thrown); } finally { sweep(); }
    },
    read(f) {
      try { return flat(encode(f())); } catch (thrown) { throw explained(thrown); } finally { sweep(); }
    },
    write(f, words) {
      begin(words);
      try { return flat(encode(f()) + "\n" + finish()); } catch (thrown) { throw explained(thrown); }
    },
    assign(f, words, text, tagged) {
      begin(words);
      try { f(decode(text, tagged, false)); return flat(finish()); } catch (thrown) { throw explained(thrown); }
    },
    run(text, words) {
      begin(words);
      try { evaluateGlobally(parse(text)); return flat(finish()); } catch (thrown) { throw explained(thrown); }
    },
    items(f, words) {
      begin(words);
      try { return flat(encode(listOf(f()))); } catch (thrown) { throw explained(thrown); } finally { sweep(); }
    },
  };

  function listOf(value) {
    if (typeof value !== "object" || value === null || typeof value[iterator] !== "function")
      throw new TypeFault("foreach goes over an array; this is " + (value === null ? "null" : typeof value));
    const list = isArray(value) ? value : [...value], copy = [];
    for (let i = 0; i < list.length; i++) copy[i] = list[i];
    return copy;
  }

  //#include ecmascript_purity.js

  return function pick(name) { return operations[name]; };
})
