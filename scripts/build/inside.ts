/**
 * Packages whose code goes into ours. Every command waits for commander, and inside it is one file and
 * without parts of Node that it never uses. Whatever reads a request waits for zod: inside it is one file
 * with what we use of it, instead of a hundred with the messages of fifty languages.
 */
export const packagesInside: readonly string[] = ['commander', 'zod']
