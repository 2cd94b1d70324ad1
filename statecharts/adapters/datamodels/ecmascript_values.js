  // ---------------------------------------------------------------- values in

  function decode(text, tagged, frozen) {
    const value = parse(text);
    return tagged ? revive(value, frozen) : frozen ? deepFreeze(value) : value;
  }

  function deepFreeze(value) {
    if (typeof value === "object" && value !== null) {
      if (isArray(value)) for (let i = 0; i < value.length; i++) deepFreeze(value[i]);
      else { const names = keys(value); for (let i = 0; i < names.length; i++) deepFreeze(value[names[i]]); }
      freeze(value);
    }
    return value;
  }

  function revive(value, frozen) {
    if (typeof value !== "object" || value === null) return value;
    if (isArray(value)) {
      for (let i = 0; i < value.length; i++) value[i] = revive(value[i], frozen);
      return frozen ? freeze(value) : value;
    }
    const names = keys(value);
    for (let i = 0; i < names.length; i++) if (names[i] === "@js") return reviveMarker(value, frozen);
    return reviveMembers(value, names, value, frozen);
  }

  function reviveMembers(from, names, into, frozen) {
    for (let i = 0; i < names.length; i++) {
      const name = names[i], member = from[name];
      if (from === into && (typeof member !== "object" || member === null)) continue;
      const value = revive(member, frozen);
      if (name !== "__proto__" && from === into) into[name] = value;
      else defineProperty(into, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
    }
    return frozen ? freeze(into) : into;
  }

  function reviveMarker(marker, frozen) {
    switch (marker["@js"]) {
      case "undefined": return undefined;
      case "NaN": return NaN;
      case "Infinity": return Infinity;
      case "-Infinity": return -Infinity;
      case "-0": return -0;
      case "object": return reviveMembers(marker.value, keys(marker.value), {}, frozen);
      case "function": return marker.name === undefined ? functionOf(marker.source) : declaredFunction(marker.name);
      case "instance": {
        const prototype = declaredFunction(marker.of).prototype;
        return reviveMembers(marker.data, keys(marker.data), create(prototype), frozen);
      }
      case "date": {
        const date = new RealDate(marker.iso === null ? NaN : marker.iso);
        if (frozen) { weakAdd(frozenDates, date); freeze(date); }
        return date;
      }
      case "xml": return documentNode(marker.source, marker.trees, marker.element);
      case "opaque": return mapGet(heap, marker.id).value;
      case "lost": throw new Fault(marker.message);
    }
    throw new Fault("unknown marker " + marker["@js"]);
  }

  function declaredFunction(name) {
    if (!mapHas(declared, name)) throw new Fault("the document's scripts declare no function '" + name + "' any more");
    return mapGet(declared, name);
  }

  function functionOf(text) {
    // a function by its source: it was written at the top level, so it sees global variables only
    let made = mapGet(functions, text);
    if (made === undefined) {
      try { made = evaluateGlobally("(" + text + ")"); }
      catch { const holder = evaluateGlobally("({" + text + "})"); made = holder[ownKeys(holder)[0]]; }
      if (typeof made !== "function") throw new Fault("this is not the source of a function: " + text);
      harden(made);
      mapSet(functions, text, made);
    }
    return made;
  }

  function isOpen(text) {
    let known = mapGet(openness, text);
    if (known === undefined) {
      known = false;
      for (let i = 0; i < texts.length && known !== null; i++)
        for (let at = indexOf(texts[i].text, text); at >= 0 && known !== null; at = indexOf(texts[i].text, text, at + 1))
          known = setHas(texts[i].starts, at) ? true : null;
      known = known === true;
      mapSet(openness, text, known);
    }
    return known;
  }

  function learn(text, starts) {
    texts[texts.length] = { text, starts: new Set(starts) };
    mapClear(openness);
  }

  // --------------------------------------------------------------- values out

  let tagsSeen = false;           // whether the last text written by encode() holds a marker
  let toJSONDefined = false;      // whether a script gave a prototype a toJSON method

  function encode(value) {
    tagsSeen = false;
    switch (typeof value) {
      case "number": if (isFinite(value) && !is(value, -0)) return stringify(value); break;
      case "string": case "boolean": return stringify(value);
      case "object":
        if (value === null) return "null";
        if (!toJSONDefined && isPlain(value, new Set())) return stringify(value);
    }
    return write(value, new Set());
  }

  function enter(value, path) {
    if (setHas(path, value)) throw new TypeFault("a value contains itself; a variable holds data, which is a tree");
    setAdd(path, value);
  }

  function isPlain(value, path) {
    switch (typeof value) {
      case "string": case "boolean": return true;
      case "number": return isFinite(value) && !is(value, -0);
      case "object": break;
      default: return false;
    }
    if (value === null) return true;
    enter(value, path);
    const prototype = getPrototypeOf(value);
    if (prototype === ArrayPrototype && isArray(value)) {
      for (let i = 0; i < value.length; i++) if (!isPlain(value[i], path)) return false;
    } else if (prototype === ObjectPrototype && tagOf(value) === "[object Object]" || prototype === null) {
      const names = keys(value);
      for (let i = 0; i < names.length; i++)
        if (names[i] === "@js" || !isPlain(value[names[i]], path)) return false;
    } else return false;
    setDelete(path, value);
    return true;
  }

  function write(value, path) {
    switch (typeof value) {
      case "string": case "boolean": return stringify(value);
      case "number":
        if (isFinite(value)) return is(value, -0) ? marker("-0") : stringify(value);
        return marker(value !== value ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
      case "undefined": return marker("undefined");
      case "object": return value === null ? "null" : writeObject(value, path);
      case "function": return writeFunction(value);
    }
    return opaque(value);
  }

  function marker(kind, rest) {
    tagsSeen = true;
    return '{"@js":"' + kind + '"' + (rest === undefined ? "" : rest) + "}";
  }

  function writeObject(value, path) {
    const prototype = getPrototypeOf(value);
    if (isArray(value) && prototype === ArrayPrototype) {
      enter(value, path);
      let text = "[";
      for (let i = 0; i < value.length; i++) text += (i ? "," : "") + write(value[i], path);
      setDelete(path, value);
      return text + "]";
    }
    if (prototype === null || prototype === ObjectPrototype && tagOf(value) === "[object Object]") {
      const text = writeMembers(value, path);
      return text.escaped ? marker("object", ',"value":' + text.members) : text.members;
    }
    if (prototype === DatePrototype && isDate(value)) {
      return marker("date", ',"iso":' + (timeOf(value) === timeOf(value) ? stringify(toISO(value)) : "null"));
    }
    const node = nodeSource(value);
    if (node !== undefined) return marker("xml", ',"source":' + stringify(node.source) + ',"element":' + node.element);
    const name = declarerOf(prototype);
    if (name !== undefined && tagOf(value) === "[object Object]")
      return marker("instance", ',"of":' + stringify(name) + ',"data":' + writeMembers(value, path).members);
    return opaque(value);
  }

  function writeMembers(value, path) {
    enter(value, path);
    const names = keys(value);
    let text = "{", escaped = false;
    for (let i = 0; i < names.length; i++) {
      if (names[i] === "@js") escaped = true;
      text += (i ? "," : "") + stringify(names[i]) + ":" + write(value[names[i]], path);
    }
    setDelete(path, value);
    return { members: text + "}", escaped };
  }

  function isDate(value) {
    try { timeOf(value); return true; } catch { return false; }
  }

  function declarerOf(prototype) {
    // the declared function whose `new` gave this prototype, also when a script has just declared it anew
    const known = mapGet(declaredByPrototype, prototype);
    if (known !== undefined) return known;
    const property = getOwnPropertyDescriptor(prototype, "constructor");
    const maker = property && property.value;
    if (typeof maker !== "function" || maker.prototype !== prototype) return undefined;
    const name = declaredName(maker);
    return mapGet(declaredByPrototype, name === undefined ? undefined : mapGet(declared, name).prototype);
  }

  function declaredName(value) {
    return mapGet(declaredByText, value.name + "\n" + source(value));
  }

  function writeFunction(value) {
    const name = declaredName(value);
    if (name !== undefined) return marker("function", ',"name":' + stringify(name));
    const text = source(value);
    return mapGet(functions, text) === value || isOpen(text) ? marker("function", ',"source":' + stringify(text)) : opaque(value);
  }

  function opaque(value) {
    let id = mapGet(heapIds, value);
    if (id === undefined) {
      id = heapNext++;
      mapSet(heapIds, value, id);
      mapSet(heap, id, { value, count: 0 });
    }
    mapGet(heap, id).count++;
    return marker("opaque", ',"id":' + id + ',"description":' + stringify(describe(value)));
  }

  function release(id) {
    const entry = mapGet(heap, id);
    if (entry !== undefined && --entry.count <= 0) { mapDelete(heap, id); mapDelete(heapIds, entry.value); }
  }

  function describe(value) {
    switch (typeof value) {
      case "undefined": return "undefined";
      case "bigint": return "the BigInt " + value + "n";
      case "symbol": return "a symbol";
      case "function": {
        const text = source(value);
        return (startsWith(text, "class") ? "the class " : "the function ") + (value.name || "(anonymous)");
      }
    }
    const maker = getPrototypeOf(value) && getPrototypeOf(value).constructor;
    const name = typeof maker === "function" && maker.name || slice(tagOf(value), 8, -1);
    return "an instance of " + name;
  }
