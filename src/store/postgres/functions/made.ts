// How every function of the store is made. Each call is one function, so each is one round trip and
// one transaction; its plans are kept by the server, with or without a pooler in between.

/**
 * Plans are fixed by hand: they look rows up by index, whatever the statistics of a table that is
 * emptied and filled all the time say, and they touch rows in the order they are given in.
 */
const settings = [
  'search_path = pg_catalog',
  'jit = off',
  'plan_cache_mode = force_generic_plan',
  'enable_seqscan = off',
  'enable_bitmapscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  "lock_timeout = '10s'",
]

export interface Made {
  readonly name: string
  readonly parameters: string
  readonly returns: string
  readonly declare?: string
  readonly body: string
  /** Called by others, whose settings hold already. */
  readonly isInner?: boolean
}

export function made(s: string, given: Made): string {
  const { name, parameters, returns, declare = '', body, isInner = false } = given
  const set = isInner ? '' : settings.map(setting => `set ${setting}`).join(' ')
  return `create or replace function ${s}.${name} (${parameters}) returns ${returns}
    language plpgsql ${set} as $carillon$
    #variable_conflict use_column
    declare ${declare}
    begin
      ${body}
    end $carillon$`
}
