/**
 * Packages whose code goes into ours. Every command waits for commander, and inside it is one file and
 * without parts of Node that it never uses.
 */
export const packagesInside: readonly string[] = ['commander']
