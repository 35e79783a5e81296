// Statements of the shared operations as PostgreSQL takes them: tables in the schema of the store, parameters
// with numbers.

const tables = [
  'jobs',
  'job_states',
  'attempts',
  'skips',
  'progress',
  'log_lines',
  'records',
  'queues',
  'job_counts',
  'count_changes',
  'current_counts',
  'lane_running',
  'lane_rates',
].join('|')
const tableNames = new RegExp(String.raw`\b(from|join|into|update)\s+(?=(?:${tables})\b)`, 'g')

/** The texts of statements are few; those of filters are bounded by this number. */
const KNOWN_MAX = 1_000

export function statementsIn(schema: string): (sql: string) => string {
  const known = new Map<string, string>()
  return sql => {
    const found = known.get(sql)
    if (found !== undefined) return found
    let count = 0
    const text = sql
      .replaceAll(tableNames, (_, word: string) => `${word} ${schema}.`)
      .replaceAll('?', () => `$${++count}`)
    if (known.size < KNOWN_MAX) known.set(sql, text)
    return text
  }
}
