// Claims where lanes have rules, or only some lanes are asked for: core/turns and core/lane in the
// server, lane by lane. Such claims of one schema take turns, because a cap holds over all queues.

import { LANE_KIND, laneLimits } from '../../../core/lane.ts'
import { TURN_KEPT_MS, TURN_KIND } from '../../../core/turns.ts'
import { claimParameters, claimReturns, lease, promote, take } from './claim.ts'
import { judged } from './clock.ts'
import { made } from './made.ts'

/** Nothing sorts between a text and the same with this behind it. */
const behind = "p_lane || E'\\x01'"

const nextLane = (s: string): string =>
  made(s, {
    name: 'lane_next_1',
    parameters: `p_lines int[], p_now bigint, p_from text[], p_until text[], p_lane text,
      p_behind boolean`,
    returns: 'text',
    isInner: true,
    declare: `v_bound text collate "C" := case when p_behind then ${behind} else p_lane end;
      v_lane text;`,
    body: `
      select min(f.lane) into v_lane from unnest(p_from, p_until) g (a, b)
        cross join unnest(p_lines) l (line) cross join lateral (
          select m.lane from ${s}.moments m
            where m.what = 1 and m.line = l.line and m.at <= p_now
              and m.lane >= greatest(g.a collate "C", v_bound) and m.lane < g.b collate "C"
            order by m.lane limit 1) f
        where g.b collate "C" > v_bound;
      return v_lane;`,
  })

/** More than any claim can ask for. */
const NO_CAP = 2_147_483_647

const laneRoom = (s: string): string =>
  made(s, {
    name: 'lane_room_1',
    parameters: 'p_lane text, p_now bigint, out p_weight int, out p_open int, out p_rule json',
    returns: 'record',
    isInner: true,
    declare: 'v_n int; v_whole double precision;',
    body: `
      p_weight := 1;
      p_open := ${NO_CAP};
      select r.value::json into p_rule from ${s}.records r where r.kind = '${LANE_KIND}'
        and r.key = p_lane and (r.expire_at is null or r.expire_at > p_now);
      if p_rule is null then return; end if;
      p_weight := coalesce((p_rule ->> 'weight')::int, 1);
      if p_rule ->> 'runningMax' is not null then
        delete from ${s}.capped c where c.lane = p_lane and not exists (
          select 1 from ${s}.jobs j where j.seq = c.seq and j.token = c.token);
        select count(*) into v_n from ${s}.capped c where c.lane = p_lane;
        p_open := greatest(0, (p_rule ->> 'runningMax')::int - v_n);
      end if;
      if p_rule ->> 'count' is not null then
        select x.whole_at into v_whole from ${s}.rates x where x.lane = p_lane;
        v_n := greatest(0, ceil((coalesce(v_whole, 0) - p_now)
          * (p_rule ->> 'count')::double precision / (p_rule ->> 'perMs')::double precision - 0.001));
        p_open := least(p_open, greatest(0, (p_rule ->> 'count')::int - v_n));
      end if;`,
  })

const laneRows = (s: string): string =>
  made(s, {
    name: 'lane_rows_1',
    parameters: `p_lines int[], p_now bigint, p_lane text, p_rank bigint, p_seq bigint,
      p_count int, out p_tids tid[], out p_last_rank bigint, out p_last_seq bigint`,
    returns: 'record',
    isInner: true,
    body: `
      with found as (
        select x.tid, x.rank, x.seq from unnest(p_lines) l (line) cross join lateral (
          select m.ctid as tid, m.rank, m.seq from ${s}.moments m
            where m.what = 1 and m.line = l.line and m.lane = p_lane and m.at <= p_now
              and (m.rank, m.seq) > (p_rank, p_seq)
            order by m.rank, m.seq limit p_count) x
        order by x.rank, x.seq limit p_count
      ) select coalesce(array_agg(f.tid order by f.rank, f.seq), '{}'), max(f.rank),
          (array_agg(f.seq order by f.rank desc, f.seq desc))[1]
        into p_tids, p_last_rank, p_last_seq from found f;`,
  })

const next = (s: string, lane: string, isBehind: boolean) =>
  `${s}.lane_next_1(v_lines, v_now, p_from, p_until, ${lane}, ${isBehind})`

/** The lane whose turn it is next, with its room; `v_i` is null when every lane was found. */
const findLane = (s: string) => `
  v_before := 0;
  v_i := null;
  if v_start and v_taken > 0 and ${next(s, 'v_lane', false)} = v_lane
      and (select r.p_weight from ${s}.lane_room_1(v_lane, v_now) r) > v_taken then
    v_is_going := true;
    v_before := v_taken;
    v_found := v_lane;
  else
    v_found := ${next(s, 'v_at', true)};
    if v_found is null and not v_wrapped then
      v_wrapped := true;
      v_found := ${next(s, "''", false)};
    end if;
    if v_wrapped and (v_found collate "C" > v_lane or (v_is_going and v_found = v_lane)) then
      v_found := null;
    end if;
  end if;
  v_start := false;
  if v_found is not null then
    v_at := v_found;
    select r.p_weight, r.p_open, r.p_rule into v_weight, v_open, v_rule
      from ${s}.lane_room_1(v_found, v_now) r;
    v_names := v_names || v_found;
    v_weights := v_weights || v_weight;
    v_lefts := v_lefts || v_open;
    v_ranks := v_ranks || (-9223372036854775808)::bigint;
    v_lasts := v_lasts || (-1)::bigint;
    v_given := v_given || 0;
    v_rules := v_rules || v_rule;
    v_i := cardinality(v_names);
  end if;`

const serveLane = (s: string) => `
  v_wanted := least(v_quota, v_lefts[v_i], p_limit - v_total);
  v_n := 0;
  if v_wanted > 0 then
    select r.p_tids, r.p_last_rank, r.p_last_seq into v_some, v_rank, v_seq
      from ${s}.lane_rows_1(v_lines, v_now, v_names[v_i], v_ranks[v_i], v_lasts[v_i], v_wanted) r;
    v_n := cardinality(v_some);
    v_lefts[v_i] := case when v_n < v_wanted then 0 else v_lefts[v_i] - v_n end;
    if v_n > 0 then
      v_ranks[v_i] := v_rank;
      v_lasts[v_i] := v_seq;
      v_given[v_i] := v_given[v_i] + v_n;
      v_tids := v_tids || v_some;
      v_total := v_total + v_n;
      v_last := v_names[v_i];
      v_last_taken := v_before + v_n;
    end if;
  end if;`

/** Found one by one in the first round, then around those that may give more. */
const serve = (s: string) => `
  loop
    exit when v_total >= p_limit;
    ${findLane(s)}
    exit when v_i is null;
    v_quota := v_weights[v_i] - v_before;
    ${serveLane(s)}
    v_idle := case when v_n > 0 then 0 else v_idle + 1 end;
    if v_idle >= ${laneLimits.idleMax} then
      v_passed := v_found;
      exit;
    end if;
  end loop;
  v_before := 0;
  loop
    v_some_open := array(select i from unnest(v_lefts) with ordinality o (n, i) where n > 0 order by i);
    exit when v_total >= p_limit or cardinality(v_some_open) = 0;
    foreach v_i in array v_some_open loop
      v_quota := case when cardinality(v_some_open) = 1 then p_limit else v_weights[v_i] end;
      ${serveLane(s)}
    end loop;
  end loop;
  if v_passed is not null then
    v_last := v_passed;
    v_last_taken := ${laneLimits.weightMax};
  end if;`

const spend = (s: string) => `
  for v_i in 1 .. cardinality(v_names) loop
    continue when v_given[v_i] = 0 or v_rules[v_i] is null;
    v_rule := v_rules[v_i];
    if v_rule ->> 'count' is not null then
      insert into ${s}.rates as x values (v_names[v_i],
          v_now + v_given[v_i] * (v_rule ->> 'perMs')::double precision / (v_rule ->> 'count')::int)
        on conflict (lane) do update set whole_at = greatest(x.whole_at, v_now)
          + v_given[v_i] * (v_rule ->> 'perMs')::double precision / (v_rule ->> 'count')::int;
    end if;
    if v_rule ->> 'runningMax' is not null then
      insert into ${s}.capped select m.lane, m.seq, p_token from ${s}.moments m
        where m.ctid = any (v_tids) and m.lane = v_names[v_i]
        on conflict (lane, seq) do update set token = excluded.token;
    end if;
  end loop;`

/** The turn is the queue's, or one of its own that the caller gives, or that a record keeps. */
interface RuledForm {
  readonly isScoped: boolean
}

const givenTurn = (s: string) => `
      select q.paused, coalesce(p_turn, q.cursor), case when p_turn is null then q.taken else p_taken end
        into v_paused, v_lane, v_taken from ${s}.queues q where q.queue = p_queue for update;`

/** The lock above lets one claim at a time come here, so the record is as the last one left it. */
const scopeTurn = (s: string) => `
      select q.paused, q.cursor, q.taken
        into v_paused, v_lane, v_taken from ${s}.queues q where q.queue = p_queue for update;
      if p_scope is not null then
        v_lane := ''; v_taken := 0;
        select coalesce(r.value::json ->> 'lane', ''), coalesce((r.value::json ->> 'taken')::int, 0)
          into v_lane, v_taken from ${s}.records r
          where r.kind = '${TURN_KIND}' and r.key = p_scope
            and (r.expire_at is null or r.expire_at > v_now);
        if not found then v_lane := ''; v_taken := 0; end if;
      end if;`

const keepScopeTurn = (s: string) => `
        insert into ${s}.records as r values ('${TURN_KIND}', p_scope,
            json_build_object('lane', v_last, 'taken', v_last_taken)::text, 1, v_now + ${TURN_KEPT_MS})
          on conflict (kind, key) do update set value = excluded.value,
            expire_at = excluded.expire_at, version = r.version + 1;`

const claimRuled = (s: string, { isScoped }: RuledForm): string =>
  made(s, {
    name: isScoped ? 'claim_ruled_2' : 'claim_ruled_1',
    parameters: `${claimParameters}, p_from text[], p_until text[], ${
      isScoped ? 'p_scope text' : 'p_turn text, p_taken int'
    }`,
    returns: claimReturns,
    declare: `v_lines int[]; v_tids tid[] := '{}'; v_some tid[]; v_seqs bigint[]; v_gone bigint[];
      v_paused boolean; v_now bigint := ${judged};
      v_lane text collate "C"; v_taken int; v_at text; v_found text; v_rule json;
      v_start boolean := true; v_wrapped boolean := false; v_is_going boolean := false;
      v_names text[] := '{}'; v_weights int[] := '{}'; v_lefts int[] := '{}';
      v_ranks bigint[] := '{}'; v_lasts bigint[] := '{}'; v_given int[] := '{}';
      v_rules json[] := '{}'; v_some_open int[]; v_weight int; v_open int; v_rank bigint;
      v_seq bigint; v_i int; v_n int; v_before int; v_quota int; v_wanted int;
      v_total int := 0; v_idle int := 0; v_passed text; v_last text; v_last_taken int;`,
    body: `
      v_lines := array(select l.id from ${s}.lines l
        where l.queue = p_queue and l.handler = any (p_handlers));
      if cardinality(v_lines) = 0 then return; end if;
      perform pg_advisory_xact_lock(hashtextextended('carillon lanes ${s}', 0));
      insert into ${s}.queues (queue) values (p_queue) on conflict do nothing;
      ${isScoped ? scopeTurn(s) : givenTurn(s)}
      if v_paused then return; end if;
      v_at := v_lane;
      ${promote(s)}
      v_tids := '{}';
      ${serve(s)}
      if v_total = 0 and v_passed is null then return; end if;
      if ${isScoped ? 'p_scope' : 'p_turn'} is null then
        update ${s}.queues set cursor = v_last, taken = v_last_taken where queue = p_queue;
      ${isScoped ? `else ${keepScopeTurn(s)}` : ''}
      end if;
      if v_total = 0 then return; end if;
      ${spend(s)}
      v_seqs := array(select m.seq from unnest(v_tids) with ordinality t (tid, n)
        join ${s}.moments m on m.ctid = t.tid order by t.n);
      ${take(s)}
      ${lease(s)}`,
  })

/** Of lanes whose rule is gone, and rates that are whole again anyway. */
const forget = (s: string): string =>
  made(s, {
    name: 'forget_capped_1',
    parameters: 'p_now bigint, p_limit int',
    returns: 'void',
    body: `
      delete from ${s}.capped c where c.ctid = any (array(
        select o.ctid from ${s}.capped o where not exists (
          select 1 from ${s}.jobs j where j.seq = o.seq and j.token = o.token) limit p_limit));
      delete from ${s}.rates c where c.ctid = any (array(
        select o.ctid from ${s}.rates o where o.whole_at <= p_now limit p_limit));`,
  })

export const ruledFunctions = (s: string): string[] => [
  nextLane(s),
  laneRoom(s),
  laneRows(s),
  claimRuled(s, { isScoped: false }),
  forget(s),
]

export const claimScopedFunction = (s: string): string => claimRuled(s, { isScoped: true })
