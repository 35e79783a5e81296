// carillon/cron: parse, search, count and explain cron expressions. Pure and browser-safe.
export { parseCron } from './cron.ts'
export { CronError, MAX_EXPRESSION_LENGTH } from './errors.ts'
export type { CronErrorCode } from './errors.ts'
export type {
  Cron,
  CronOptions,
  Dialect,
  DstNote,
  DstRule,
  Instant,
  Lint,
  LintCode,
} from './types.ts'
export { formatInZone, zoneTransitions } from './zone-info.ts'
export type { ZoneTransition } from './zone-info.ts'
export { isZone } from './zone.ts'
