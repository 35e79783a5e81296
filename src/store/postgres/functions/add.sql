-- Inserts the jobs whose p_keeps is true and returns their numbers, null for the others.
-- Lists may hold the one value that all jobs have; bodies, specs and declarations are joined with U+001F.

create function carillon.add(
  p_keeps boolean[], p_ids text[], p_series text[], p_kinds smallint[], p_shares int[],
  p_lines int[], p_lanes text[], p_states smallint[], p_whats smallint[], p_ats bigint[],
  p_ranks bigint[], p_untils bigint[], p_expires bigint[], p_attempts bigint[], p_fences bigint[],
  p_versions bigint[], p_tokens text[], p_owners text[], p_attempt_ids text[], p_claims bigint[],
  p_apps text[], p_definitions text[], p_births bigint[], p_kept bigint[], p_sought_ids text[],
  p_sought_names text[], p_bodies text, p_specs text, p_declared text
)
returns bigint[]
language plpgsql as $$
#variable_conflict use_column
declare
  v_count int := cardinality(p_ids);
  v_seqs bigint[];
  v_bodies text[] := string_to_array(p_bodies, E'\x1f');
  v_specs text[] := string_to_array(p_specs, E'\x1f');
  v_declared text[] := string_to_array(p_declared, E'\x1f');
begin
  if v_count > 1 then
    if cardinality(p_series) = 1 then
      p_series := array_fill(p_series[1], array[v_count]);
    end if;
    if cardinality(p_kinds) = 1 then
      p_kinds := array_fill(p_kinds[1], array[v_count]);
    end if;
    if cardinality(p_shares) = 1 then
      p_shares := array_fill(p_shares[1], array[v_count]);
    end if;
    if cardinality(p_lines) = 1 then
      p_lines := array_fill(p_lines[1], array[v_count]);
    end if;
    if cardinality(p_lanes) = 1 then
      p_lanes := array_fill(p_lanes[1], array[v_count]);
    end if;
    if cardinality(p_whats) = 1 then
      p_whats := array_fill(p_whats[1], array[v_count]);
    end if;
    if cardinality(p_ats) = 1 then
      p_ats := array_fill(p_ats[1], array[v_count]);
    end if;
    if cardinality(p_ranks) = 1 then
      p_ranks := array_fill(p_ranks[1], array[v_count]);
    end if;
    if cardinality(p_untils) = 1 then
      p_untils := array_fill(p_untils[1], array[v_count]);
    end if;
    if cardinality(p_expires) = 1 then
      p_expires := array_fill(p_expires[1], array[v_count]);
    end if;
    if cardinality(p_attempts) = 1 then
      p_attempts := array_fill(p_attempts[1], array[v_count]);
    end if;
    if cardinality(p_fences) = 1 then
      p_fences := array_fill(p_fences[1], array[v_count]);
    end if;
    if cardinality(p_versions) = 1 then
      p_versions := array_fill(p_versions[1], array[v_count]);
    end if;
    if cardinality(p_tokens) = 1 then
      p_tokens := array_fill(p_tokens[1], array[v_count]);
    end if;
    if cardinality(p_owners) = 1 then
      p_owners := array_fill(p_owners[1], array[v_count]);
    end if;
    if cardinality(p_attempt_ids) = 1 then
      p_attempt_ids := array_fill(p_attempt_ids[1], array[v_count]);
    end if;
    if cardinality(p_claims) = 1 then
      p_claims := array_fill(p_claims[1], array[v_count]);
    end if;
    if cardinality(p_apps) = 1 then
      p_apps := array_fill(p_apps[1], array[v_count]);
    end if;
    if cardinality(p_definitions) = 1 then
      p_definitions := array_fill(p_definitions[1], array[v_count]);
    end if;
    if cardinality(p_births) = 1 then
      p_births := array_fill(p_births[1], array[v_count]);
    end if;
    if cardinality(p_kept) = 1 then
      p_kept := array_fill(p_kept[1], array[v_count]);
    end if;
    if cardinality(p_sought_ids) = 1 then
      p_sought_ids := array_fill(p_sought_ids[1], array[v_count]);
    end if;
    if cardinality(p_sought_names) = 1 then
      p_sought_names := array_fill(p_sought_names[1], array[v_count]);
    end if;
    if cardinality(v_bodies) = 1 then
      v_bodies := array_fill(v_bodies[1], array[v_count]);
    end if;
    if cardinality(v_specs) = 1 then
      v_specs := array_fill(v_specs[1], array[v_count]);
    end if;
    if cardinality(v_declared) = 1 then
      v_declared := array_fill(v_declared[1], array[v_count]);
    end if;
  end if;
  v_seqs := array(select case when k.keeps then nextval('carillon.jobs_seq') end
      from unnest(p_keeps) k (keeps));
  insert into carillon.jobs
    select v_seqs[i], p_ids[i], p_series[i], p_kinds[i], p_shares[i], p_lines[i], p_lanes[i],
        p_versions[i], p_states[i],
    case when p_whats[i] < 2 then p_ats[i] end,
    p_ranks[i], p_untils[i], p_expires[i], p_attempts[i], p_fences[i], p_versions[i], v_bodies[i],
    p_tokens[i], p_owners[i], p_attempt_ids[i], p_claims[i]
    from generate_subscripts(v_seqs, 1) i where v_seqs[i] is not null;
  insert into carillon.specs
    select v_seqs[i], p_versions[i], v_specs[i], nullif(v_declared[i], ''),
    p_apps[i], p_definitions[i], p_births[i], p_kept[i], p_sought_ids[i], p_sought_names[i]
    from generate_subscripts(v_seqs, 1) i where v_seqs[i] is not null;
  insert into carillon.moments select v_seqs[i], p_lines[i], p_whats[i], p_ats[i], p_ranks[i],
      p_lanes[i]
    from generate_subscripts(v_seqs, 1) i where v_seqs[i] is not null and p_whats[i] is not null;
  if 0 = any (p_kinds) then
    insert into carillon.listed select v_seqs[i], p_shares[i], case when g.state >= 2 then g.state
      when g.state = 0 and substr(g.body, 2, 1) = '0' then 1 else 0 end
      from generate_subscripts(v_seqs, 1) i, lateral (select p_states[i], v_bodies[i]) g (state,
          body)
      where v_seqs[i] is not null and p_kinds[i] = 0;
  end if;
  if cardinality(p_tokens) > 0 then
    insert into carillon.leases as l
      select p_tokens[i], min(p_untils[i]), count(*), array_agg(v_seqs[i])
      from generate_subscripts(v_seqs, 1) i where v_seqs[i] is not null
          and p_tokens[i] is not null group by 1
      on conflict (token) do update set until_at = least(l.until_at, excluded.until_at),
      open = l.open + excluded.open, seqs = l.seqs || excluded.seqs;
  end if;
  insert into carillon.deltas select nextval('carillon.deltas_seq'), array_agg(m.share),
    array_agg(-1), array_agg(m.state), array_agg(m.n) from (
      select p_shares[i] as share, p_states[i] as state, count(*) as n
          from generate_subscripts(v_seqs, 1) i where v_seqs[i] is not null group by 1, 2
    ) m having count(*) > 0;
  if found then
    perform carillon.fold();
  end if;
  return v_seqs;
end $$;
