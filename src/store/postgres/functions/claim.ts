// Due and waiting → running, in one call. While everything due fits, it is simply taken; under
// contention the claimers of a queue take turns, and so do its lanes, as core/fair says.

import { fromDocuments } from '../arrays.ts'
import { judged } from './clock.ts'
import { made } from './made.ts'
import { tenantOf } from './tenants.ts'

const due = (s: string, what: number) => `select ctid from ${s}.moments
  where what = ${what} and line = any (v_lines) and at <= v_now limit p_limit + 1`

/** Everything that is due, in the order of the turns it would have. */
const inTurn = (s: string) => `
  select array_agg(o.tid), array_agg(o.seq) into v_tids, v_seqs from (select t.tid, t.seq from (
    select m.ctid as tid, m.seq, m.lane,
        row_number() over (partition by m.lane order by m.rank, m.seq) as turn
      from ${s}.moments m where m.ctid = any (v_tids)
  ) t order by t.turn, t.lane <= v_cursor, t.lane) o;`

/** The first lane of any line that fits the condition on `m.lane`. */
const firstLane = (s: string, condition: string) => `(select min(found.lane) from
  unnest(v_lines) l (line) cross join lateral (
    select m.lane from ${s}.moments m
      where m.what = 1 and m.line = l.line and m.at <= v_now and ${condition}
      order by m.lane limit 1) found)`

/** The earliest due of all lines first. A row that another claim is at stays where it is. */
export const promote = (s: string) => `
  v_tids := array(select found.tid from unnest(v_lines) l (line) cross join lateral (
    select m.ctid as tid, m.at, m.seq from ${s}.moments m
      where m.what = 0 and m.line = l.line and m.at <= v_now
      order by m.at, m.seq limit p_bite) found order by found.at, found.seq limit p_bite);
  if cardinality(v_tids) > 0 then
    update ${s}.moments set what = 1 where ctid = any (array(
      select ctid from ${s}.moments where ctid = any (v_tids) and what = 0 and at <= v_now
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

/**
 * As deep into each lane as the last turn goes; deeper into some when others come up short. What was
 * said to be a crowd and is none after all, nobody had to wait for a turn in: the cursor stays.
 */
const turns = (s: string) => `
  if v_count = 1 and cardinality(v_lines) = 1 then
    select array_agg(o.ctid), array_agg(o.seq) into v_tids, v_seqs from (
      select m.ctid, m.seq from ${s}.moments m
        where m.what = 1 and m.line = v_lines[1] and m.lane = v_lanes[1] and m.at <= v_now
        order by m.rank, m.seq limit p_limit + 1) o;
    v_last := v_lanes[1];
  else ${turnsOfMany(s)} end if;
  if v_crowd then
    v_crowd := cardinality(v_tids) <= p_limit and not exists (select 1 from ${s}.moments m
      where m.what = 1 and m.line = any (v_lines) and m.at <= v_now offset p_limit);
  end if;
  v_tids := v_tids[1 : p_limit];
  v_seqs := v_seqs[1 : p_limit];`

const turnsOfMany = (s: string) => `
  v_depth := (p_limit + v_count - 1) / v_count;
  loop
    with found as (
      select k.n, k.lane, c.tid, c.seq, row_number() over (partition by k.n order by c.rank, c.seq) as turn
        from unnest(v_lanes) with ordinality k (lane, n) cross join lateral (
          select x.tid, x.rank, x.seq from unnest(v_lines) l (line) cross join lateral (
            select m.ctid as tid, m.rank, m.seq from ${s}.moments m
              where m.what = 1 and m.line = l.line and m.lane = k.lane and m.at <= v_now
              order by m.rank, m.seq limit v_depth) x
          order by x.rank, x.seq limit v_depth) c
    ), taken as (
      select tid, seq, lane, turn, n from found order by turn, n limit p_limit)
    select (select count(*) from found),
      (select count(*) from found where turn = v_depth),
      (select array_agg(tid order by turn, n) from taken),
      (select array_agg(seq order by turn, n) from taken),
      (select lane from taken order by turn desc, n desc limit 1)
      into v_total, v_deep, v_tids, v_seqs, v_last;
    exit when v_total >= p_limit or v_deep = 0;
    v_depth := v_depth + (p_limit - v_total + v_deep - 1) / v_deep;
  end loop;`

/** The same with turns that nest: those of tenants, and of each its lanes from the first. */
const inNestedTurn = (s: string) => `
  select array_agg(o.tid), array_agg(o.seq) into v_tids, v_seqs from (select t.tid, t.seq from (
    select l.tid, l.seq, l.tenant,
        row_number() over (partition by l.tenant order by l.turn, l.lane) as place from (
      select m.ctid as tid, m.seq, m.lane, ${tenantOf('m.lane')} as tenant,
          row_number() over (partition by m.lane order by m.rank, m.seq) as turn
        from ${s}.moments m where m.ctid = any (v_tids)) l
  ) t order by t.place, t.tenant <= v_cursor, t.tenant) o;`

const heldQueue = (s: string) => `select q.paused, q.cursor into v_paused, v_cursor
  from ${s}.queues q where q.queue = p_queue for update;`

const contended = (s: string) => `
  ${heldQueue(s)}
  if not found then
    insert into ${s}.queues (queue) values (p_queue) on conflict do nothing;
    ${heldQueue(s)}
  end if;
  if v_paused then return; end if;
  ${promote(s)}
  ${lanes(s)}
  v_count := cardinality(v_lanes);
  if v_count = 0 then return; end if;
  ${turns(s)}
  if not v_crowd and v_last <> v_cursor then
    update ${s}.queues set cursor = v_last where queue = p_queue;
  end if;`

const nestedTurn = (s: string) => `
  v_cursor := ${tenantOf('v_cursor')};
  ${inNestedTurn(s)}`

const takeAll = (s: string) => `
  v_tids := array(${due(s, 0)}) || array(${due(s, 1)});
  ${inNestedTurn(s)}`

/** Whether some are due beyond those that are asked for. */
const isMoreDue = (s: string) => `exists (select 1 from ${s}.moments m
  where m.what = 1 and m.line = any (v_lines) and m.at <= v_now offset p_limit)`

/**
 * Tenants and their users take turns. Where there is one tenant, or none that has users, a ring of
 * lanes does.
 */
const contendedTenants = (s: string) => `
  ${heldQueue(s)}
  if not found then
    insert into ${s}.queues (queue) values (p_queue) on conflict do nothing;
    ${heldQueue(s)}
  end if;
  if v_paused then return; end if;
  v_cursor := ${tenantOf('v_cursor')};
  v_tenant := v_cursor;
  v_key := p_queue || E'\\n';
  ${promote(s)}
  v_only := ${firstLane(s, 'true')};
  if v_only is null then return; end if;
  v_only := ${tenantOf('v_only')};
  if ${firstLane(s, "m.lane > v_only and m.lane < v_only || '/'")} is not null
      or ${firstLane(s, "m.lane >= v_only || '0'")} is not null then
    v_only := null;
  elsif ${firstLane(s, "m.lane >= v_only || '/' and m.lane < v_only || '0'")} is not null then
    v_has_users := true;
    select r.p_lane into v_cursor from ${s}.turn_at_1(v_key || E'\\n' || v_only, v_now) r;
  end if;
  ${lanes(s)}
  v_count := cardinality(v_lanes);
  if v_only is null and (v_count >= p_limit or exists (
      select 1 from unnest(v_lanes) l (lane) where position('/' in l.lane) > 0)) then
    if v_crowd and not ${isMoreDue(s)} then
      ${takeAll(s)}
    else
      select r.p_tids, r.p_last into v_tids, v_last from ${s}.tenants_serve_1(
        v_key, v_lines, v_now, v_tenant, 1, p_limit, false, null, null, null) r;
      v_seqs := array(select m.seq from unnest(v_tids) with ordinality t (tid, n)
        join ${s}.moments m on m.ctid = t.tid order by t.n);
      update ${s}.queues set cursor = v_last where queue = p_queue and v_last <> v_tenant;
    end if;
  else
    ${turns(s)}
    if v_crowd then
      v_cursor := v_tenant;
      ${takeAll(s)}
    else
      if v_has_users then
        perform ${s}.turn_keep_1(v_key || E'\\n' || v_only, v_last, 1, v_now);
      end if;
      update ${s}.queues set cursor = ${tenantOf('v_last')}
        where queue = p_queue and cursor <> ${tenantOf('v_last')};
    end if;
  end if;`

/**
 * Whoever deletes the moment of a job may change the job. What others are at stays theirs; the rest
 * keeps its order. All at once: looked up one by one, each would ask for the size of the table.
 */
export const take = (s: string) => `
  with ours as materialized (
    select m.ctid as tid from ${s}.moments m
      where m.ctid = any (v_tids) and m.what < 2 and m.line = any (v_lines) and m.at <= v_now
      for update skip locked
  ), gone as (
    delete from ${s}.moments m where m.ctid = any (array(select tid from ours)) returning m.seq
  ) select array_agg(seq) into v_gone from gone;
  if v_gone is null then return; end if;
  if cardinality(v_tids) = 1 then v_seqs := v_gone;
  elsif cardinality(v_gone) < cardinality(v_tids) then
    v_seqs := array(select o.seq from unnest(v_seqs) with ordinality o (seq, n)
      where o.seq = any (v_gone) order by o.n);
  end if;
  insert into ${s}.leases as l values (p_token, v_now + p_lease, cardinality(v_seqs), v_seqs)
    on conflict (token) do update set until_at = least(l.until_at, excluded.until_at),
      open = l.open + excluded.open, seqs = l.seqs || excluded.seqs;`

const held = (s: string, attempts: string) => `
  with held as (
    update ${s}.jobs j set state = 1, due_at = null, rank = null, attempts = j.attempts + 1,
      fence = j.fence + 1, version = j.version + 1, token = p_token, owner = p_owner,
      attempt_id = ${attempts}[i], claimed_at = v_now, until_at = v_now + p_lease
      from generate_subscripts(v_seqs, 1) i where j.seq = v_seqs[i]
      returning j.seq, j.share, j.spec_at, j.expire_at, j.attempts, j.fence, j.version, j.body,
        j.id, j.series, j.kind, i as n
  ), moved as (
    insert into ${s}.deltas select nextval('${s}.deltas_seq'), array_agg(m.share),
      array_agg(0), array_agg(1), array_agg(m.n)
      from (select share, count(*) as n from held group by share) m having count(*) > 0
  )`

/** One row of lists: a row for each job would cost as much again to send and to read. */
const lists = `array_agg(h.n::bigint), array_agg(h.seq), array_agg(h.spec_at), array_agg(h.expire_at),
  array_agg(h.attempts), array_agg(h.fence), array_agg(h.version), string_agg(h.body, E'\\x1f')`

export const lease = (s: string) => `
  return query ${held(s, 'p_attempts')}
  select ${lists},
    case when p_specs then (
      select json_agg(json_build_array(
        k.n, x.spec, x.declared, x.created_at::text, k.id, k.series, k.kind::text))
        from held k join ${s}.specs x on x.seq = k.seq and x.spec_at = k.spec_at) end, v_now
    from held h;
  perform ${s}.fold_1();`

/**
 * Specs as they are, in lists like the rest: to write and read them as JSON inside of JSON cost as
 * much as the claim. One that is not there any more is empty.
 */
const specLists = `to_json(array_agg(h.id)), array_agg(h.kind), array_agg(x.created_at),
  case when count(h.series) > 0 then to_json(array_agg(h.series)) end,
  case when count(x.declared) > 0 then to_json(array_agg(x.declared)) end,
  string_agg(coalesce(x.spec, ''), E'\\x1f')`
const noSpecLists = `null::json, null::smallint[], null::bigint[], null::json, null::json,
  null::text`

/** `told` is what is said of every job; `attempts` are the ids given to them. */
const leaseWith = (s: string, told: string, attempts: string) => `
  if p_specs then
    return query ${held(s, attempts)}
    select ${told}, v_now, ${specLists}
      from held h left join ${s}.specs x on x.seq = h.seq and x.spec_at = h.spec_at;
  else
    return query ${held(s, attempts)}
    select ${told}, v_now, ${noSpecLists} from held h;
  end if;
  perform ${s}.fold_1();`

/**
 * The rows as the inside of one JSON list, bodies and all, which is read at once. A job that waits
 * does not expire.
 */
const rows = `string_agg(
  concat_ws(',', h.n, h.seq, h.spec_at, h.attempts, h.fence, h.version, h.body), ',')`

const parameters = (
  attempts: string,
) => `p_queue text, p_handlers text[], p_now bigint, p_limit int,
  p_owner text, p_token text, p_lease bigint, p_attempts ${attempts}, p_bite int, p_specs boolean,
  p_server boolean`
export const claimParameters = parameters('text[]')
const listColumns = `ns bigint[], seqs bigint[], spec_ats bigint[], expires bigint[],
  attempts bigint[], fences bigint[], versions bigint[], bodies text`
const specColumns = `ids json, kinds smallint[], created bigint[], serieses json, declareds json,
  specs text`
export const claimReturns = `table (${listColumns}, specs json, moment bigint)`

interface Form {
  readonly name: string
  readonly parameters: string
  readonly returns: string
  readonly declare?: string
  /** Whether it is known that more is due than is asked for: then nobody need look. */
  readonly isCrowd?: string
  /** Whether turns nest. */
  readonly isNested?: boolean
  readonly ending: string
}

const claimOf = (s: string, form: Form) =>
  made(s, {
    name: form.name,
    parameters: form.parameters,
    returns: form.returns,
    declare: `v_lines int[]; v_tids tid[]; v_cursor text; v_paused boolean; v_lanes text[];
      v_count int; v_depth int; v_total int; v_deep int; v_last text;
      v_seqs bigint[]; v_gone bigint[]; v_now bigint := ${judged};
      v_crowd boolean := ${form.isCrowd ?? 'false'}; ${form.declare ?? ''}`,
    body: `
      v_lines := array(select l.id from ${s}.lines l
        where l.queue = p_queue and l.handler = any (p_handlers));
      if cardinality(v_lines) = 0 then return; end if;
      if not v_crowd then
        v_tids := array(${due(s, 0)}) || array(${due(s, 1)});
        if cardinality(v_tids) = 0 then return; end if;
        select q.paused, q.cursor into v_paused, v_cursor from ${s}.queues q where q.queue = p_queue;
        if v_paused then return; end if;
        v_cursor := coalesce(v_cursor, '');
      end if;
      if v_crowd or cardinality(v_tids) > p_limit then
        ${form.isNested ? contendedTenants(s) : contended(s)}
      elsif cardinality(v_tids) > 1 then
        ${form.isNested ? nestedTurn(s) : inTurn(s)}
      end if;
      ${take(s)}
      ${form.ending}`,
  })

export const claimFunction = (s: string): string =>
  claimOf(s, {
    name: 'claim_1',
    parameters: claimParameters,
    returns: claimReturns,
    ending: lease(s),
  })

export const claimWithTexts = (s: string): string =>
  claimOf(s, {
    name: 'claim_2',
    parameters: claimParameters,
    returns: `table (${listColumns}, moment bigint, ${specColumns})`,
    ending: leaseWith(s, lists, 'p_attempts'),
  })

export const claimWithRows = (s: string): string =>
  claimOf(s, {
    name: 'claim_3',
    parameters: `${parameters('text')}, p_crowd boolean`,
    isCrowd: 'p_crowd',
    returns: `table (jobs text, moment bigint, ${specColumns})`,
    declare: `v_attempts text[] := ${fromDocuments('p_attempts')};`,
    ending: leaseWith(s, rows, 'v_attempts'),
  })

export const claimOfTenants = (s: string): string =>
  claimOf(s, {
    name: 'claim_4',
    parameters: `${parameters('text')}, p_crowd boolean`,
    isCrowd: 'p_crowd',
    isNested: true,
    returns: `table (jobs text, moment bigint, ${specColumns})`,
    declare: `v_attempts text[] := ${fromDocuments('p_attempts')}; v_tenant text; v_key text;
      v_only text collate "C"; v_has_users boolean := false;`,
    ending: leaseWith(s, rows, 'v_attempts'),
  })
