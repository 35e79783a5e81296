// What parts the fields of a row.

/** Parts the fields of a row; no key holds it. */
export const NUL = '\0'
