// Claims where tenants or lanes have rules, shares or a scope of their own. Those of one schema that
// hold to rules take turns, because a cap holds over all queues.

import { claimParameters, claimReturns, lease, promote, take } from './claim.ts'
import { judged } from './clock.ts'
import { made } from './made.ts'
import { tenantOf } from './tenants.ts'

/** Of the lanes of one tenant, in the turn of the scope. */
const ofLanes = (s: string) => `
  select r.p_lane, r.p_taken into v_lane, v_taken from ${s}.turn_at_1(v_key, v_now) r;
  select least(p_limit, r.p_open) into v_open from ${s}.ring_room_1(p_tenant, v_now, p_ruled, false) r;
  if p_most is not null then
    v_open := least(v_open, greatest(0, p_most
      - coalesce(p_held[array_position(p_tenants, p_tenant)], 0)));
  end if;
  if v_open > 0 then
    select r.p_tids, r.p_lanes, r.p_last, r.p_last_taken, r.p_passed
      into v_tids, v_lanes, v_last, v_last_taken, v_passed from ${s}.lanes_serve_1(
        v_lines, v_now, p_from, p_until, v_lane, v_taken, v_open, p_ruled) r;
  end if;`

const ofTenants = (s: string) => `
  if p_scope is null then
    v_lane := ${tenantOf('v_cursor')};
  else
    select r.p_lane, r.p_taken into v_lane, v_taken from ${s}.turn_at_1(v_key, v_now) r;
  end if;
  select r.p_tids, r.p_lanes, r.p_last, r.p_last_taken, r.p_passed
    into v_tids, v_lanes, v_last, v_last_taken, v_passed from ${s}.tenants_serve_1(
      v_key, v_lines, v_now, v_lane, v_taken, p_limit, p_ruled, p_most, p_tenants, p_held) r;`

const keep = (s: string) => `
  if cardinality(v_tids) = 0 and v_passed is null then return; end if;
  if p_scope is not null then
    perform ${s}.turn_keep_1(v_key, v_last, v_last_taken, v_now);
  else
    update ${s}.queues set cursor = v_last, taken = case when p_ruled then v_last_taken else taken end
      where queue = p_queue;
  end if;
  if cardinality(v_tids) = 0 then return; end if;`

export const claimRuledFunction = (s: string): string =>
  made(s, {
    name: 'claim_ruled_3',
    parameters: `${claimParameters}, p_ruled boolean, p_scope text, p_tenant text, p_from text[],
      p_until text[], p_most int, p_tenants text[], p_held int[]`,
    returns: claimReturns,
    declare: `v_lines int[]; v_tids tid[] := '{}'; v_lanes text[]; v_seqs bigint[]; v_gone bigint[];
      v_paused boolean; v_now bigint := ${judged}; v_cursor text; v_key text; v_lane text;
      v_taken int; v_open int; v_last text; v_last_taken int; v_passed text;`,
    body: `
      v_lines := array(select l.id from ${s}.lines l
        where l.queue = p_queue and l.handler = any (p_handlers));
      if cardinality(v_lines) = 0 then return; end if;
      if p_ruled then
        perform pg_advisory_xact_lock(hashtextextended('carillon lanes ${s}', 0));
      end if;
      insert into ${s}.queues (queue) values (p_queue) on conflict do nothing;
      select q.paused, q.cursor, q.taken into v_paused, v_cursor, v_taken
        from ${s}.queues q where q.queue = p_queue for update;
      if v_paused then return; end if;
      v_key := p_queue || E'\\n' || coalesce(p_scope, '');
      ${promote(s)}
      v_tids := '{}';
      if p_tenant is not null then ${ofLanes(s)} else ${ofTenants(s)} end if;
      ${keep(s)}
      if p_ruled then perform ${s}.lanes_spend_1(v_tids, v_lanes, p_token, v_now); end if;
      v_seqs := array(select m.seq from unnest(v_tids) with ordinality t (tid, n)
        join ${s}.moments m on m.ctid = t.tid order by t.n);
      ${take(s)}
      ${lease(s)}`,
  })
