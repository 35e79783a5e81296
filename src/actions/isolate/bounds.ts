// Between which values the limits of isolated handlers may lie.

/** Node itself takes 45 MB to 60 MB of a process. */
export const MEMORY_MB = { min: 64, max: 1_048_576 } as const
export const CPU_SECONDS = { min: 1, max: 604_800 } as const
