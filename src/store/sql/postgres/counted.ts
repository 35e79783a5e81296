// How a statement that writes many jobs counts them: by tenant, queue, handler, kind and state, those that
// were written in the end.

/** A part of a statement. `written` has the columns jobs are counted by; `before` is the state they leave. */
export function countedSql(written: string, before: string | null): string {
  const left = before === null ? '' : `, ('${before}', -1)`
  return `counted as (
    insert into count_changes
      select c.tenant, c.queue, c.handler, c.kind, x.state, x.sign * c.count, 0
        from (select tenant, queue, handler, kind, state, count(*) as count from ${written}
          group by tenant, queue, handler, kind, state) c
        cross join lateral (values (c.state, 1)${left}) x (state, sign)
      returning 1)`
}
