  // ------------------------------------------------------------ a read-only DOM
  //
  // A tree arrives as nested arrays: [name, {attribute: value}, [child, ...]] for an element, a string for text.

  const nodeSources = new WeakMap();
  const nodeLists = freeze({ __proto__: ArrayPrototype, item: freeze(function item(i) { return this[i] === undefined ? null : this[i]; }) });

  function nodeList(nodes) {
    return freeze(setPrototypeOf(nodes, nodeLists) && nodes);
  }

  const NodePrototype = {
    __proto__: ObjectPrototype,
    get firstChild() { return this.childNodes[0] || null; },
    get lastChild() { return this.childNodes[this.childNodes.length - 1] || null; },
    get nextSibling() { return sibling(this, 1); },
    get previousSibling() { return sibling(this, -1); },
    get children() {
      const found = [];
      for (let i = 0; i < this.childNodes.length; i++) if (this.childNodes[i].nodeType === 1) found[found.length] = this.childNodes[i];
      return nodeList(found);
    },
    get textContent() {
      if (this.nodeType === 9) return null;
      return textOf(this);
    },
    hasChildNodes() { return this.childNodes.length > 0; },
    getElementsByTagName(name) { return nodeList(descendants(this, name, [])); },
    toString() { return this.nodeType === 3 ? this.data : "[object " + (this.nodeType === 9 ? "Document" : "Element") + "]"; },
  };
  const ElementPrototype = {
    __proto__: NodePrototype,
    getAttribute(name) { const found = attribute(this, name); return found === null ? null : found.value; },
    hasAttribute(name) { return attribute(this, name) !== null; },
    getAttributeNode(name) { return attribute(this, name); },
  };

  function attribute(node, name) {
    for (let i = 0; i < node.attributes.length; i++) if (node.attributes[i].name === "" + name) return node.attributes[i];
    return null;
  }

  function sibling(node, step) {
    const parent = node.parentNode;
    if (!parent) return null;
    for (let i = 0; i < parent.childNodes.length; i++)
      if (parent.childNodes[i] === node) return parent.childNodes[i + step] || null;
    return null;
  }

  function textOf(node) {
    if (node.nodeType === 3) return node.data;
    let text = "";
    for (let i = 0; i < node.childNodes.length; i++) text += textOf(node.childNodes[i]);
    return text;
  }

  function descendants(node, name, found) {
    for (let i = 0; i < node.childNodes.length; i++) {
      const child = node.childNodes[i];
      if (child.nodeType !== 1) continue;
      if (name === "*" || child.tagName === "" + name) found[found.length] = child;
      descendants(child, name, found);
    }
    return found;
  }

  function fixedMembers(node, members) {
    const names = keys(members);
    for (let i = 0; i < names.length; i++)
      defineProperty(node, names[i], { __proto__: null, value: members[names[i]], enumerable: true });
    return node;
  }

  function buildNode(tree, parent, owner) {
    if (typeof tree === "string") {
      const text = create(NodePrototype);
      return freeze(fixedMembers(text, { nodeType: 3, nodeName: "#text", nodeValue: tree, data: tree, parentNode: parent,
                                         ownerDocument: owner, childNodes: nodeList([]) }));
    }
    const [name, attributes, members] = tree;
    const node = create(ElementPrototype), list = [], children = [];
    const names = keys(attributes);
    for (let i = 0; i < names.length; i++)
      list[i] = freeze({ name: names[i], nodeName: names[i], value: attributes[names[i]], nodeValue: attributes[names[i]], nodeType: 2 });
    const colon = indexOf(name, ":");
    fixedMembers(node, { nodeType: 1, nodeName: name, tagName: name, nodeValue: null,
                         localName: colon < 0 ? name : slice(name, colon + 1), prefix: colon < 0 ? null : slice(name, 0, colon),
                         attributes: nodeList(list), parentNode: parent, ownerDocument: owner });
    weakSet(nodeSources, node, { tree });
    for (let i = 0; i < members.length; i++) children[i] = buildNode(members[i], node, owner);
    return freeze(fixedMembers(node, { childNodes: nodeList(children) }));
  }

  function documentNode(text, trees, element) {
    const node = create(NodePrototype);
    fixedMembers(node, { nodeType: 9, nodeName: "#document", nodeValue: null, parentNode: null, ownerDocument: null });
    weakSet(nodeSources, node, { source: text });
    const roots = [];
    for (let i = 0; i < trees.length; i++) roots[i] = buildNode(trees[i], node, node);
    freeze(fixedMembers(node, { documentElement: roots[0], childNodes: nodeList(roots) }));
    return element ? roots[0] : node;
  }

  function escapeXml(text) {
    let escaped = "";
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      escaped += c === "&" ? "&amp;" : c === "<" ? "&lt;" : c === ">" ? "&gt;" : c === '"' ? "&quot;"
        : c === "\n" || c === "\t" || c === "\r" ? "&#" + (c === "\n" ? 10 : c === "\t" ? 9 : 13) + ";" : c;
    }
    return escaped;
  }

  function treeSource(tree) {
    if (typeof tree === "string") return escapeXml(tree);
    let text = "<" + tree[0];
    const names = keys(tree[1]);
    for (let i = 0; i < names.length; i++) text += " " + names[i] + '="' + escapeXml(tree[1][names[i]]) + '"';
    if (tree[2].length === 0) return text + "/>";
    text += ">";
    for (let i = 0; i < tree[2].length; i++) text += treeSource(tree[2][i]);
    return text + "</" + tree[0] + ">";
  }

  function nodeSource(value) {
    const known = weakGet(nodeSources, value);
    if (known === undefined) return undefined;
    return known.tree === undefined ? { source: known.source, element: false } : { source: treeSource(known.tree), element: true };
  }
