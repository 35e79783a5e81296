// Due and waiting → running, in one call. While everything due fits, it is simply taken; under
// contention the claimers of a queue take turns, and so do its lanes, as core/fair says.

import { made } from './made.ts'

const due = (s: string, what: number) => `select ctid from ${s}.moments
  where what = ${what} and line = any (v_lines) and at <= p_now limit p_limit + 1`

/** The first lane of any line that fits the condition on `m.lane`. */
const firstLane = (s: string, condition: string) => `(select min(found.lane) from
  unnest(v_lines) l (line) cross join lateral (
    select m.lane from ${s}.moments m
      where m.what = 1 and m.line = l.line and m.at <= p_now and ${condition}
      order by m.lane limit 1) found)`

/** The earliest due of all lines first. A row that another claim is at stays where it is. */
const promote = (s: string) => `
  v_tids := array(select found.tid from unnest(v_lines) l (line) cross join lateral (
    select m.ctid as tid, m.at, m.seq from ${s}.moments m
      where m.what = 0 and m.line = l.line and m.at <= p_now
      order by m.at, m.seq limit p_bite) found order by found.at, found.seq limit p_bite);
  if cardinality(v_tids) > 0 then
    update ${s}.moments set what = 1 where ctid = any (array(
      select ctid from ${s}.moments where ctid = any (v_tids) and what = 0 and at <= p_now
        for update skip locked));
  end if;`

/** At most as many lanes as there are turns, those behind the cursor first. */
const lanes = (s: string) => `
  with recursive ring (lane, n) as (
    select ${firstLane(s, 'm.lane > v_cursor')}, 1
    union all
    select ${firstLane(s, 'm.lane > ring.lane')}, n + 1
      from ring where ring.lane is not null and n < p_limit
  ) select coalesce(array_agg(lane order by n), '{}') into v_lanes from ring where lane is not null;
  if cardinality(v_lanes) < p_limit then
    with recursive ring (lane, n) as (
      select ${firstLane(s, 'true')}, cardinality(v_lanes) + 1
      union all
      select ${firstLane(s, 'm.lane > ring.lane')}, n + 1
        from ring where ring.lane <= v_cursor and n < p_limit
    ) select v_lanes || coalesce(array_agg(lane order by n), '{}') into v_lanes
      from ring where lane <= v_cursor;
  end if;`

/** As deep into each lane as the last turn goes; deeper into some when others come up short. */
const turns = (s: string) => `
  v_depth := (p_limit + v_count - 1) / v_count;
  loop
    with found as (
      select k.n, k.lane, c.tid, row_number() over (partition by k.n order by c.rank, c.seq) as turn
        from unnest(v_lanes) with ordinality k (lane, n) cross join lateral (
          select x.tid, x.rank, x.seq from unnest(v_lines) l (line) cross join lateral (
            select m.ctid as tid, m.rank, m.seq from ${s}.moments m
              where m.what = 1 and m.line = l.line and m.lane = k.lane and m.at <= p_now
              order by m.rank, m.seq limit v_depth) x
          order by x.rank, x.seq limit v_depth) c
    ), taken as (select tid, lane, turn, n from found order by turn, n limit p_limit)
    select (select count(*) from found),
      (select count(*) from found where turn = v_depth),
      (select array_agg(tid order by turn, n) from taken),
      (select lane from taken order by turn desc, n desc limit 1)
      into v_total, v_deep, v_tids, v_last;
    exit when v_total >= p_limit or v_deep = 0;
    v_depth := v_depth + (p_limit - v_total + v_deep - 1) / v_deep;
  end loop;`

const contended = (s: string) => `
  insert into ${s}.queues (queue) values (p_queue) on conflict do nothing;
  select q.paused, q.cursor into v_paused, v_cursor from ${s}.queues q
    where q.queue = p_queue for update;
  if v_paused then return; end if;
  ${promote(s)}
  ${lanes(s)}
  v_count := cardinality(v_lanes);
  if v_count = 0 then return; end if;
  ${turns(s)}
  update ${s}.queues set cursor = v_last where queue = p_queue;`

/** Whoever deletes the moment of a job may change the job. */
const lease = (s: string) => `
  return query with taken as (
    delete from ${s}.moments where ctid = any (array(
      select ctid from ${s}.moments
        where ctid = any (v_tids) and what < 2 and line = any (v_lines) and at <= p_now
        for update skip locked)) returning seq, lane, rank
  ), rounds as (
    select seq, lane, row_number() over (partition by lane order by rank, seq) as turn from taken
  ), ordered as (
    select seq, row_number() over (order by turn, lane <= v_cursor, lane) as n from rounds
  ), held as (
    update ${s}.jobs j set state = 1, due_at = null, rank = null, attempts = j.attempts + 1,
      fence = j.fence + 1, version = j.version + 1, token = p_token, owner = p_owner,
      attempt_id = p_attempts[o.n], claimed_at = p_now, until_at = p_until
      from ordered o where j.seq = o.seq
      returning j.seq, j.share, j.spec_at, j.expire_at, j.attempts, j.fence, j.revision, j.version,
        j.body, o.n
  ), leased as (
    insert into ${s}.leases as l (token, until_at, open, seqs)
      select p_token, p_until, count(*), array_agg(seq) from held having count(*) > 0
      on conflict (token) do update set until_at = least(l.until_at, excluded.until_at),
        open = l.open + excluded.open, seqs = l.seqs || excluded.seqs
  ), moved as (
    insert into ${s}.deltas select nextval('${s}.deltas_seq'), array_agg(m.share),
      array_agg(0), array_agg(1), array_agg(m.n)
      from (select share, count(*) as n from held group by share) m having count(*) > 0
  )
  select h.seq, h.spec_at, h.expire_at, h.attempts, h.fence, h.revision, h.version, h.body,
    case when p_specs then x.spec end, case when p_specs then x.declared end,
    case when p_specs then x.created_at end, case when p_specs then j.id end,
    case when p_specs then j.series end, case when p_specs then j.kind end
    from held h
    left join ${s}.specs x on p_specs and x.seq = h.seq and x.spec_at = h.spec_at
    left join ${s}.jobs j on p_specs and j.seq = h.seq
    order by h.n;
  if found then perform ${s}.fold_1(); end if;`

export const claimFunction = (s: string): string =>
  made(s, {
    name: 'claim_1',
    parameters: `p_queue text, p_handlers text[], p_now bigint, p_limit int, p_owner text,
      p_token text, p_until bigint, p_attempts text[], p_bite int, p_specs boolean`,
    returns: `table (seq bigint, spec_at bigint, expire_at bigint, attempts bigint, fence bigint,
      revision bigint, version bigint, body text, spec text, declared text, created_at bigint,
      id text, series text, kind smallint)`,
    declare: `v_lines int[]; v_tids tid[]; v_cursor text; v_paused boolean; v_lanes text[];
      v_count int; v_depth int; v_total int; v_deep int; v_last text;`,
    body: `
      v_lines := array(select l.id from ${s}.lines l
        where l.queue = p_queue and l.handler = any (p_handlers));
      if cardinality(v_lines) = 0 then return; end if;
      v_tids := array(${due(s, 0)}) || array(${due(s, 1)});
      if cardinality(v_tids) = 0 then return; end if;
      select q.paused, q.cursor into v_paused, v_cursor from ${s}.queues q where q.queue = p_queue;
      if v_paused then return; end if;
      v_cursor := coalesce(v_cursor, '');
      if cardinality(v_tids) > p_limit then ${contended(s)} end if;
      ${lease(s)}`,
  })
