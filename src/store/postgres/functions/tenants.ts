// Turns of tenants and their lanes: core/turns in the server. A tenant has its turn among the tenants,
// whatever the number of its lanes.

import { LANE_KIND, laneLimits } from '../../../core/lane.ts'
import { TURN_KEPT_MS, TURN_KIND } from '../../../core/turns.ts'
import { made } from './made.ts'

/** More than any claim can ask for. */
const NO_CAP = 2_147_483_647
/** Behind every key there can be. */
const END = `U&'\\+10FFFF'`

export const tenantOf = (lane: string): string => `split_part(${lane}, '/', 1)`

/** Keys hold no U+0001 without a partner, so this is the span of one lane. */
const ownEnd = (tenant: string) => `${tenant} || E'\\x01'`

const lane = (s: string, from: string, until: string, behind = false) =>
  `${s}.lane_next_1(p_lines, p_now, array[${from}], array[${until}], ${from}, ${behind})`

/**
 * The least name of a tenant that has something due. In the order of lanes the users of `a` come
 * behind the tenant `a-b`.
 */
const nextTenant = (s: string): string =>
  made(s, {
    name: 'tenant_next_1',
    parameters: 'p_lines int[], p_now bigint, p_tenant text, p_behind boolean',
    returns: 'text',
    isInner: true,
    declare: 'v_lane text collate "C"; v_found text collate "C"; v_name text collate "C";',
    body: `
      if not p_behind and (${lane(s, 'p_tenant', ownEnd('p_tenant'))} is not null
          or ${lane(s, "p_tenant || '/'", "p_tenant || '0'")} is not null) then
        return p_tenant;
      end if;
      v_lane := coalesce(${lane(s, 'p_tenant', "p_tenant || '/'", true)},
        ${lane(s, "p_tenant || '0'", END)});
      while v_lane is not null and ${tenantOf('v_lane')} < p_tenant collate "C" loop
        v_name := ${tenantOf('v_lane')} || '0';
        v_lane := ${lane(s, 'v_name', END)};
      end loop;
      if v_lane is null then return null; end if;
      v_found := ${tenantOf('v_lane')};
      for v_i in 1 .. length(v_found) loop
        v_name := left(v_found, v_i - 1);
        if substr(v_found, v_i, 1) < '/' and v_name > p_tenant collate "C"
            and ${lane(s, "v_name || '/'", "v_name || '0'")} is not null then
          return v_name;
        end if;
      end loop;
      return v_found;`,
  })

const turnAt = (s: string): string =>
  made(s, {
    name: 'turn_at_1',
    parameters: 'p_key text, p_now bigint, out p_lane text, out p_taken int',
    returns: 'record',
    isInner: true,
    body: `
      select coalesce(r.value::json ->> 'lane', ''), coalesce((r.value::json ->> 'taken')::int, 0)
        into p_lane, p_taken from ${s}.records r
        where r.kind = '${TURN_KIND}' and r.key = p_key
          and (r.expire_at is null or r.expire_at > p_now);
      if not found then p_lane := ''; p_taken := 0; end if;`,
  })

const keepTurn = (s: string): string =>
  made(s, {
    name: 'turn_keep_1',
    parameters: 'p_key text, p_lane text, p_taken int, p_now bigint',
    returns: 'void',
    isInner: true,
    body: `
      insert into ${s}.records as r values ('${TURN_KIND}', p_key,
          json_build_object('lane', p_lane, 'taken', p_taken)::text, 1, p_now + ${TURN_KEPT_MS})
        on conflict (kind, key) do update set value = excluded.value,
          expire_at = excluded.expire_at, version = r.version + 1;`,
  })

const room = (s: string): string =>
  made(s, {
    name: 'ring_room_1',
    parameters: `p_name text, p_now bigint, p_ruled boolean, p_free boolean,
      out p_weight int, out p_open int`,
    returns: 'record',
    isInner: true,
    body: `
      p_weight := 1;
      p_open := ${NO_CAP};
      if p_ruled and not p_free then
        select r.p_weight, r.p_open into p_weight, p_open from ${s}.lane_room_1(p_name, p_now) r;
      end if;`,
  })

interface Ring {
  /** The next name from one on, or behind it. */
  readonly next: (name: string, isBehind: boolean) => string
  /** Sets v_weight and v_open from v_found. */
  readonly room: string
  /** Asked for v_wanted of v_i, says in v_n how many there are. */
  readonly give: string
}

const ringVariables = `
  v_names text[] := '{}'; v_weights int[] := '{}'; v_lefts int[] := '{}'; v_given int[] := '{}';
  v_some_open int[]; v_at text := p_lane; v_found text collate "C"; v_weight int; v_open int;
  v_start boolean := true; v_wrapped boolean := false; v_is_going boolean := false;
  v_i int; v_n int; v_before int; v_quota int; v_wanted int; v_idle int := 0; v_total int := 0;`

const serveOne = ({ give }: Ring) => `
  v_wanted := least(v_quota, v_lefts[v_i], p_limit - v_total);
  v_n := 0;
  if v_wanted > 0 then
    ${give}
    v_lefts[v_i] := case when v_n < v_wanted then 0 else v_lefts[v_i] - v_n end;
    if v_n > 0 then
      v_given[v_i] := v_given[v_i] + v_n;
      v_total := v_total + v_n;
      p_last := v_names[v_i];
      p_last_taken := v_before + v_n;
    end if;
  end if;`

/** Found one by one in the first round, then around those that may give more: serveRing of core. */
const serveRing = (ring: Ring) => `
  p_last := p_lane;
  p_last_taken := p_taken;
  loop
    exit when v_total >= p_limit;
    v_before := 0;
    v_found := null;
    if v_start and p_taken > 0 and ${ring.next('p_lane', false)} = p_lane then
      v_found := p_lane;
      ${ring.room}
      v_is_going := v_weight > p_taken;
    end if;
    if v_start and v_is_going then
      v_before := p_taken;
    else
      v_found := ${ring.next('v_at', true)};
      if v_found is null and not v_wrapped then
        v_wrapped := true;
        v_found := ${ring.next("''", false)};
      end if;
      exit when v_found is null
        or v_wrapped and (v_found > p_lane collate "C" or v_is_going and v_found = p_lane);
      ${ring.room}
    end if;
    v_start := false;
    v_at := v_found;
    v_names := v_names || v_found::text;
    v_weights := v_weights || v_weight;
    v_lefts := v_lefts || v_open;
    v_given := v_given || 0;
    v_i := cardinality(v_names);
    v_quota := v_weight - v_before;
    ${serveOne(ring)}
    v_idle := case when v_n > 0 then 0 else v_idle + 1 end;
    if v_idle >= ${laneLimits.idleMax} then
      p_passed := v_found;
      exit;
    end if;
  end loop;
  v_before := 0;
  loop
    v_some_open := array(select i from unnest(v_lefts) with ordinality o (n, i) where n > 0 order by i);
    exit when v_total >= p_limit or cardinality(v_some_open) = 0;
    foreach v_i in array v_some_open loop
      v_quota := case when cardinality(v_some_open) = 1 then p_limit else v_weights[v_i] end;
      ${serveOne(ring)}
    end loop;
  end loop;
  if p_passed is not null then
    p_last := p_passed;
    p_last_taken := ${laneLimits.weightMax};
  end if;`

/** The first of the given lanes in their turns, with the turn behind each. */
const serveLanes = (s: string): string =>
  made(s, {
    name: 'lanes_serve_1',
    parameters: `p_lines int[], p_now bigint, p_from text[], p_until text[], p_lane text,
      p_taken int, p_limit int, p_ruled boolean, out p_tids tid[], out p_lanes text[],
      out p_takens int[], out p_last text, out p_last_taken int, out p_passed text`,
    returns: 'record',
    isInner: true,
    declare: `${ringVariables} v_some tid[]; v_rank bigint; v_seq bigint;
      v_ranks bigint[] := '{}'; v_lasts bigint[] := '{}';`,
    body: `
      p_tids := '{}'; p_lanes := '{}'; p_takens := '{}';
      ${serveRing({
        next: (name, isBehind) =>
          `${s}.lane_next_1(p_lines, p_now, p_from, p_until, ${name}, ${isBehind})`,
        room: `select r.p_weight, r.p_open into v_weight, v_open
          from ${s}.ring_room_1(v_found, p_now, p_ruled, position('/' in v_found) = 0) r;`,
        give: `
          select r.p_tids, r.p_last_rank, r.p_last_seq into v_some, v_rank, v_seq
            from ${s}.lane_rows_1(p_lines, p_now, v_names[v_i],
              coalesce(v_ranks[v_i], -9223372036854775808), coalesce(v_lasts[v_i], -1), v_wanted) r;
          v_n := cardinality(v_some);
          if v_n > 0 then
            v_ranks[v_i] := v_rank;
            v_lasts[v_i] := v_seq;
            p_tids := p_tids || v_some;
            p_lanes := p_lanes || array_fill(v_names[v_i], array[v_n]);
            p_takens := p_takens || array(select v_before + n from generate_series(1, v_n) n);
          end if;`,
      })}`,
  })

const ofTenant = (s: string, tenant: string, limit: string) => `${s}.lanes_serve_1(p_lines, p_now,
  array[${tenant}, ${tenant} || '/'], array[${ownEnd(tenant)}, ${tenant} || '0'],
  v_turn_lane, v_turn_taken, ${limit}, p_ruled)`

const turnOfTenant = (s: string) => `
  select r.p_lane, r.p_taken into v_turn_lane, v_turn_taken
    from ${s}.turn_at_1(p_key || E'\\n' || v_names[v_i], p_now) r;`

/** Whoever is asked again is asked for what it would get if all went on like this. */
const giveTenant = (s: string) => `
  if coalesce(v_asked[v_i], 0) < v_given[v_i] + v_wanted then
    v_asked[v_i] := case when v_asked[v_i] is null then v_wanted else least(p_limit, greatest(
      v_given[v_i] + v_wanted, 2 * v_asked[v_i],
      v_given[v_i] + (p_limit - v_total + cardinality(v_names) - 1) / cardinality(v_names))) end;
    ${turnOfTenant(s)}
    select cardinality(r.p_tids) into v_n from ${ofTenant(s, 'v_names[v_i]', 'v_asked[v_i]')} r;
    v_counts[v_i] := v_n;
  end if;
  v_n := least(v_wanted, v_counts[v_i] - v_given[v_i]);`

/** The jobs of each tenant by the rounds they are served in; one more, to see what comes behind. */
const gather = (s: string) => `
  for v_i in 1 .. cardinality(v_names) loop
    continue when v_asked[v_i] is null;
    ${turnOfTenant(s)}
    v_n := v_given[v_i];
    select r.p_tids, r.p_lanes, r.p_takens, r.p_last, r.p_last_taken
      into v_some, v_lanes, v_takens, v_inner, v_inner_taken
      from ${ofTenant(s, 'v_names[v_i]', 'least(v_n + 1, v_asked[v_i])')} r;
    if cardinality(v_some) > v_n then
      v_inner := v_lanes[v_n];
      v_inner_taken := v_takens[v_n];
    end if;
    v_before := case when v_is_going and v_i = 1 then p_taken else 0 end;
    p_tids := p_tids || v_some[1 : v_n];
    p_lanes := p_lanes || v_lanes[1 : v_n];
    v_rounds := v_rounds || array(
      select (n - 1 + v_before) / v_weights[v_i] from generate_series(1, v_n) n);
    v_places := v_places || array_fill(v_i, array[v_n]);
    if ${lane(s, "v_names[v_i] || '/'", "v_names[v_i] || '0'")} is not null then
      perform ${s}.turn_keep_1(p_key || E'\\n' || v_names[v_i], v_inner,
        case when p_ruled then v_inner_taken else 1 end, p_now);
    end if;
  end loop;
  select coalesce(array_agg(o.tid order by o.round, o.place, o.n), '{}'),
      coalesce(array_agg(o.lane order by o.round, o.place, o.n), '{}')
    into p_tids, p_lanes
    from unnest(p_tids, p_lanes, v_rounds, v_places) with ordinality o (tid, lane, round, place, n);`

/** `p_key` is that of the turn of claims of this scope; the turns of tenants are kept under it. */
const serveTenants = (s: string): string =>
  made(s, {
    name: 'tenants_serve_1',
    parameters: `p_key text, p_lines int[], p_now bigint, p_lane text, p_taken int, p_limit int,
      p_ruled boolean, p_most int, p_tenants text[], p_held int[], out p_tids tid[],
      out p_lanes text[], out p_last text, out p_last_taken int, out p_passed text`,
    returns: 'record',
    isInner: true,
    declare: `${ringVariables} v_asked int[] := '{}'; v_counts int[] := '{}'; v_some tid[];
      v_lanes text[]; v_takens int[]; v_rounds int[] := '{}'; v_places int[] := '{}';
      v_inner text; v_inner_taken int; v_turn_lane text; v_turn_taken int;`,
    body: `
      p_tids := '{}'; p_lanes := '{}';
      ${serveRing({
        next: (name, isBehind) => `${s}.tenant_next_1(p_lines, p_now, ${name}, ${isBehind})`,
        room: `select r.p_weight, r.p_open into v_weight, v_open
            from ${s}.ring_room_1(v_found, p_now, p_ruled, false) r;
          if p_most is not null then
            v_open := least(v_open, greatest(0, p_most
              - coalesce(p_held[array_position(p_tenants, v_found::text)], 0)));
          end if;`,
        give: giveTenant(s),
      })}
      ${gather(s)}`,
  })

/** Under the name of the lane, and under that of its tenant. */
const spend = (s: string): string =>
  made(s, {
    name: 'lanes_spend_1',
    parameters: 'p_tids tid[], p_lanes text[], p_token text, p_now bigint',
    returns: 'void',
    isInner: true,
    declare: 'v_one record; v_rule json;',
    body: `
      for v_one in select k.name, count(*)::int as n, array_agg(k.tid) as tids from (
          select o.lane as name, o.tid from unnest(p_tids, p_lanes) o (tid, lane)
          union all
          select ${tenantOf('o.lane')}, o.tid from unnest(p_tids, p_lanes) o (tid, lane)
            where position('/' in o.lane) > 0
        ) k group by k.name loop
        select r.value::json into v_rule from ${s}.records r where r.kind = '${LANE_KIND}'
          and r.key = v_one.name and (r.expire_at is null or r.expire_at > p_now);
        continue when not found;
        if v_rule ->> 'count' is not null then
          insert into ${s}.rates as x values (v_one.name, p_now
              + v_one.n * (v_rule ->> 'perMs')::double precision / (v_rule ->> 'count')::int)
            on conflict (lane) do update set whole_at = greatest(x.whole_at, p_now)
              + v_one.n * (v_rule ->> 'perMs')::double precision / (v_rule ->> 'count')::int;
        end if;
        if v_rule ->> 'runningMax' is not null then
          insert into ${s}.capped select v_one.name, m.seq, p_token from ${s}.moments m
            where m.ctid = any (v_one.tids)
            on conflict (lane, seq) do update set token = excluded.token;
        end if;
      end loop;`,
  })

export const tenantFunctions = (s: string): string[] => [
  nextTenant(s),
  turnAt(s),
  keepTurn(s),
  room(s),
  serveLanes(s),
  serveTenants(s),
  spend(s),
]
