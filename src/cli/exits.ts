// The exit codes.

/** What a shell is told; scripts rely on the numbers. */
export const exits = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  auth: 4,
  state: 5,
  unreachable: 6,
  timedOut: 7,
  partly: 8,
  interrupted: 130,
} as const
