// The public shapes of the cron module and the compiled form the parsers hand to the engine.

/** Epoch milliseconds, UTC. */
export type Instant = number

export type Dialect = 'posix' | 'extended'

/** What happens to a local time that does not exist (gap) or exists twice (fold). */
export interface DstRule {
  gap: 'shift' | 'skip'
  fold: 'first' | 'both'
}

export interface CronOptions {
  /** IANA name; 'system' is the host's zone. Default 'UTC'. */
  zone?: string
  /** Default 'extended'. */
  dialect?: Dialect
  /** Overrides the default of the dialect and the pattern, each part on its own. */
  dst?: Partial<DstRule>
}

export interface Lint {
  code: LintCode
  message: string
}

export type LintCode =
  | 'day-or-weekday'
  | 'step-limits-day'
  | 'every-minute-of-hour'
  | 'every-second-of-minute'
  | 'uneven-step'
  | 'interval-equivalent'
  | 'short-months'
  | 'rare'

export type DstNote = 'dst-gap-shifted' | 'dst-first-of-two' | 'dst-second-of-two'

/** A compiled expression in one zone. Occurrences are whole seconds between years 1 and 9999. */
export interface Cron {
  readonly expression: string
  /** Equal for expressions that differ only in spacing, order, duplicates or names. */
  readonly canonical: string
  readonly zone: string
  readonly dialect: Dialect
  /** The rule in force for this pattern, defaults applied. */
  readonly dst: DstRule
  /** The first occurrence strictly after, or null if there is none within a hundred years. */
  next(after: Instant): Instant | null
  /** The last occurrence strictly before. */
  previous(before: Instant): Instant | null
  /** The last occurrence at or before. */
  latest(at: Instant): Instant | null
  /** Occurrences t with from < t <= to, computed without visiting each. */
  count(from: Instant, to: Instant): number
  matches(at: Instant): boolean
  /** How a clock change touched this occurrence; null for any other instant. */
  note(at: Instant): DstNote | null
  describe(): string
  lints(): Lint[]
}

/** Sorted, without duplicates, never empty. */
export type FieldValues = readonly number[]

/** Day-of-month terms; bit d-1 stands for day d. */
export interface MonthDays {
  readonly days: number
  /** Bit k stands for `L-k`, bit 0 for `L`. */
  readonly fromLast: number
  /** Bit d-1 stands for `dW`. */
  readonly nearestWeekday: number
  /** `LW` */
  readonly lastWeekday: boolean
  /** The field was built with a step on `*`. */
  readonly stepped: boolean
}

/** Weekday terms; bit 0 is Sunday. */
export interface WeekDays {
  readonly days: number
  /** Bit w stands for `wL`. */
  readonly last: number
  /** nth[n-1] has bit w for `w#n`. */
  readonly nth: readonly number[]
  readonly stepped: boolean
}

/** A parsed expression; null stands for an unrestricted day field. */
export interface CronFields {
  readonly second: FieldValues
  readonly minute: FieldValues
  readonly hour: FieldValues
  readonly monthDays: MonthDays | null
  readonly month: FieldValues
  readonly weekDays: WeekDays | null
  /** Hour or minute has `*` or a step: the pattern follows elapsed time, not the wall clock. */
  readonly elapsed: boolean
}
