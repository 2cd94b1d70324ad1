// Plain JSON values: paths into them, and templates that are filled in later.

export const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

export const toList = (value) => {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
};

export const toEvent = (event) => (typeof event === 'string' ? { type: event } : event);

/** What is left of a value after a trip through JSON text. */
export const viaJson = (value) => (value === undefined ? value : JSON.parse(JSON.stringify(value)));

/** The value at a dotted path; an absent or empty path is the whole value. */
export function lookUp(root, path) {
  if (path === undefined || path === '') return root;
  return String(path)
    .split('.')
    .reduce((at, key) => (at === undefined || at === null ? undefined : at[key]), root);
}

// A template holds objects such as {"$ctx": "a.b"}; each stands for a part of one of these.
const HOLES = [
  ['$ctx', 'context'],
  ['$evt', 'event'],
  ['$input', 'input']
];

export function isTemplate(value) {
  if (Array.isArray(value)) return value.some(isTemplate);
  if (!isRecord(value)) return false;
  return HOLES.some(([mark]) => mark in value) || Object.values(value).some(isTemplate);
}

export function fill(template, scope) {
  if (Array.isArray(template)) return template.map((part) => fill(part, scope));
  if (!isRecord(template)) return template;
  const hole = HOLES.find(([mark]) => mark in template);
  if (hole) return lookUp(scope[hole[1]], template[hole[0]]);
  return Object.fromEntries(Object.entries(template).map(([key, part]) => [key, fill(part, scope)]));
}

/** Templates become functions (XState calls them in time), everything else stays as written. */
export function lazily(value) {
  if (!isTemplate(value)) return value;
  return (args) => fill(value, { ...args, input: args.input ?? args.event?.input });
}
