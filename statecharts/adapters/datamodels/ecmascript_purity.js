  // ------------------------------------------------- what the language brings, made pure and frozen

  const teach = (what, instead) => function () {
    throw new Fault(what + " is not available: nothing in a machine reads a clock or draws a number. " + instead);
  };
  const passTime = "Pass the time in with an event, for example _event.data.now.";
  const passNumber = "Pass the number in with an event, for example _event.data.random.";

  function method(object, name, value) {
    defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  }

  // a date knows UTC only: the time zone of the computer would be a hidden input
  const noClock = teach("The current date", passTime);
  const { UTC: utc } = Date;
  const parseDate = Date.parse;

  function asUtc(text) {
    // a text without an offset means local time, which is UTC here; the engine reads it so when the zone is UTC
    const shown = parseDate(text);
    if (shown !== shown) return shown;
    const offsetIn = /(?:Z|[+-]\d\d:?\d\d|GMT|UTC)\)?\s*$/i.test(text) || /^\s*[+-]?\d{4,6}(?:-\d\d){0,2}\s*$/.test(text)
      || /GMT|UTC|[+-]\d{4}\b.*\(/.test(text);
    return offsetIn ? shown : shown - minutesWest(shown) * 60000;
  }
  const offsetOf = uncurry(DatePrototype.getTimezoneOffset);
  const minutesWest = (time) => offsetOf(new RealDate(time));

  function PureDate(...parts) {
    if (new.target === undefined || parts.length === 0) noClock();
    let value = parts[0];
    if (parts.length > 1) value = utc(...parts);
    else if (typeof value === "object" && value !== null && isDate(value)) value = timeOf(value);
    else if (typeof value === "object" && value !== null) value = toPrimitive(value);
    if (typeof value === "string") value = asUtc(value);
    return construct(RealDate, [value], new.target === PureDate ? RealDate : new.target);
  }
  function toPrimitive(value) {
    const convert = value[Symbol.toPrimitive];
    if (typeof convert === "function") return convert.call(value, "default");
    const plain = value.valueOf();
    return typeof plain === "object" ? value.toString() : plain;
  }
  defineProperty(PureDate, "name", { value: "Date" });
  defineProperty(PureDate, "length", { value: 7 });
  defineProperty(PureDate, "prototype", { value: DatePrototype, writable: false });
  method(DatePrototype, "constructor", PureDate);
  method(PureDate, "UTC", utc);
  method(PureDate, "parse", function parse(text) { return asUtc("" + text); });
  method(PureDate, "now", teach("Date.now()", passTime));
  for (const part of ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"]) {
    method(DatePrototype, "get" + part, DatePrototype["getUTC" + part]);
    if (part !== "Day") method(DatePrototype, "set" + part, DatePrototype["setUTC" + part]);
  }
  method(DatePrototype, "getTimezoneOffset", function getTimezoneOffset() { timeOf(this); return 0; });
  {
    const toUTC = DatePrototype.toUTCString;     // "Thu, 01 Jan 1970 00:00:00 GMT"
    const pieces = (date) => /^(\w+), (\d+) (\w+) (-?\d+) (.+) GMT$/.exec(toUTC.call(date));
    const day = (date) => { const p = pieces(date); return p ? `${p[1]} ${p[3]} ${p[2]} ${p[4]}` : "Invalid Date"; };
    const clock = (date) => { const p = pieces(date); return p ? `${p[5]} GMT+0000 (UTC)` : "Invalid Date"; };
    const both = (date) => pieces(date) ? `${day(date)} ${clock(date)}` : "Invalid Date";
    for (const name of ["toString", "toLocaleString"]) method(DatePrototype, name, { [name]() { return both(this); } }[name]);
    for (const name of ["toDateString", "toLocaleDateString"]) method(DatePrototype, name, { [name]() { return day(this); } }[name]);
    for (const name of ["toTimeString", "toLocaleTimeString"]) method(DatePrototype, name, { [name]() { return clock(this); } }[name]);
  }
  for (const name of ownKeys(DatePrototype)) {
    if (typeof name !== "string" || !startsWith(name, "set")) continue;
    const change = DatePrototype[name];
    method(DatePrototype, name, { [name](...parts) {
      if (weakHas(frozenDates, this)) throw new TypeFault("a condition cannot change a date; use <assign> or <script>");
      return change.apply(this, parts);
    } }[name]);
  }
  method(Math, "random", teach("Math.random()", passNumber));

  // the prototype of the global object is ours alone
  {
    const ofGlobal = (value) => value === G;
    const getter = (value) => ofGlobal(value) ? null : getPrototypeOf(value);
    const objectGet = Object.getPrototypeOf, objectSet = Object.setPrototypeOf;
    method(Object, "getPrototypeOf", function getPrototypeOf(value) { return ofGlobal(value) ? null : objectGet(value); });
    method(Reflect, "getPrototypeOf", function (value) { return getter(value); });
    const refuse = () => { throw new TypeFault("the global object keeps its prototype"); };
    method(Object, "setPrototypeOf", function setPrototypeOf(value, p) { return ofGlobal(value) ? refuse() : objectSet(value, p); });
    method(Reflect, "setPrototypeOf", function (value, p) { return ofGlobal(value) ? false : setPrototypeOf(value, p); });
    const { get, set } = getOwnPropertyDescriptor(ObjectPrototype, "__proto__");
    const isGlobal = (value) => value === undefined || value === null || ofGlobal(value);
    defineProperty(ObjectPrototype, "__proto__", { configurable: true, enumerable: false,
      get: function () { return isGlobal(this) ? null : get.call(this); },
      set: function (p) { return isGlobal(this) ? refuse() : set.call(this, p); } });
  }

  // what observes the collector, other threads or a clock goes
  for (const name of ["queueMicrotask", "WeakRef", "FinalizationRegistry", "Atomics", "SharedArrayBuffer", "performance"])
    delete G[name];
  method(G, "Date", PureDate);
  method(G, "performance", freeze({ now: teach("performance.now()", passTime) }));
  // documents made for other engines print; here <log> does that, and this is silent
  method(G, "console", freeze({ log() {}, info() {}, debug() {}, warn() {}, error() {}, trace() {}, assert() {} }));
  method(G, "In", function In(id) {
    const bit = mapGet(bits, "" + id);
    return bit !== undefined && active[bit] === "1";
  });

  // the builtins move from the global object to the end of its prototype chain, where variables can hide them
  for (const name of ownKeys(G)) {
    const property = getOwnPropertyDescriptor(G, name);
    property.writable = property.configurable = false;
    defineProperty(builtins, name, property);
    deleteProperty(G, name);
  }
  setPrototypeOf(visible, builtins);
  setPrototypeOf(G, visible);

  // ------------------------------------------------- the functions that top-level scripts declare

  function declareFunctions() {
    for (let i = 0; i < scripts.length; i++) learn(scripts[i][0], scripts[i][1]);
    for (let i = 0; i < variables.length; i++) own(variables[i], undefined);
    for (let i = 0; i < scripts.length; i++) {
      try { evaluateGlobally(scripts[i][0]); } catch { /* it will be raised where the script is run */ }
    }
    const names = ownKeys(G);
    for (let i = 0; i < names.length; i++) {
      const value = G[names[i]];
      if (typeof names[i] !== "string" || typeof value !== "function" || !isOpen(source(value))) continue;
      mapSet(declared, names[i], value);
      const text = value.name + "\n" + source(value);
      if (!mapHas(declaredByText, text)) mapSet(declaredByText, text, names[i]);
      const made = value.prototype;
      // private members (#x) would be lost with an instance
      if (typeof made === "object" && made !== null && indexOf(source(value), "#") < 0 && !mapHas(declaredByPrototype, made))
        mapSet(declaredByPrototype, made, names[i]);
    }
    sweep();
  }
  declareFunctions();

  // ------------------------------------------------------------------- freezing

  // A frozen prototype would forbid its heirs a property of the same name (the "override mistake"):
  // its data properties become accessors whose setter defines the property on the heir.
  function allowOverriding(object) {
    for (const name of ownKeys(object)) {
      const property = getOwnPropertyDescriptor(object, name);
      if (!("value" in property) || !property.configurable) continue;
      const { value } = property;
      const get = function () { return value; };
      const set = function (other) {
        // on a frozen object without effect, as in sloppy mode: a script may run again that extends a builtin
        if (typeof this === "object" || typeof this === "function")
          defineProperty(this, name, { __proto__: null, value: other, writable: true, enumerable: true, configurable: true });
      };
      defineProperty(object, name, { __proto__: null, get, set, enumerable: property.enumerable, configurable: false });
    }
  }

  const done = new Set();
  function harden(value) {
    const waiting = [value];
    while (waiting.length > 0) {
      const object = waiting[waiting.length - 1];
      waiting.length--;
      if (object === null || typeof object !== "object" && typeof object !== "function" || setHas(done, object) || object === G
          || object === visible) continue;
      setAdd(done, object);
      const names = ownKeys(object);
      if (typeof object === "function" && names.length === 2 && getOwnPropertyDescriptor(object, "prototype") === undefined) {
        freeze(object);   // a method: it has a name and a length
        continue;
      }
      for (let i = 0; i < names.length; i++) {
        const property = getOwnPropertyDescriptor(object, names[i]);
        if ("value" in property) waiting[waiting.length] = property.value;
        else { waiting[waiting.length] = property.get ?? null; waiting[waiting.length] = property.set ?? null; }
      }
      waiting[waiting.length] = getPrototypeOf(object);
      freeze(object);
    }
  }

  toJSONDefined = "toJSON" in ObjectPrototype || "toJSON" in String.prototype || "toJSON" in Number.prototype
    || "toJSON" in Boolean.prototype || "toJSON" in ArrayPrototype;
  for (const prototype of [ObjectPrototype, FunctionPrototype, Error.prototype, TypeError.prototype, RangeError.prototype,
                           SyntaxError.prototype, ReferenceError.prototype, EvalError.prototype, URIError.prototype])
    allowOverriding(prototype);
  for (const name of declared.keys()) {
    const made = mapGet(declared, name).prototype;
    if (typeof made === "object" && made !== null) allowOverriding(made);
  }
  for (const name of declared.keys()) harden(mapGet(declared, name));
  for (const root of [builtins, NodePrototype, ElementPrototype, nodeLists, function* () {}, async function () {}, async function* () {},
                      [][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ""[Symbol.iterator](),
                      "".matchAll(/x/g)]) harden(root);
