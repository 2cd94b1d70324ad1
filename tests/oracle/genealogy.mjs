/** Ids from below the root down to the actor, joined by `/`; empty for the root itself. */
export function pathOf(actor) {
  const ids = [];
  for (let at = actor; at?._parent; at = at._parent) ids.unshift(at.id);
  return ids.join('/');
}

export function rootOf(actor) {
  let at = actor;
  while (at._parent) at = at._parent;
  return at;
}

export function descendant(root, path) {
  return path.split('/').reduce((parent, id) => {
    const child = parent.getSnapshot().children?.[id];
    if (!child) throw new Error(`no child '${path}'`);
    return child;
  }, root);
}
