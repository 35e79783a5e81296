// Everything it takes to keep and run workflows over one engine, wired together.

import { AllowList } from '../actions/guard/allow.ts'
import { Outbound } from '../actions/guard/outbound.ts'
import { httpAction } from '../actions/http/action.ts'
import { Registry } from '../actions/registry.ts'
import { secretsFrom } from '../actions/secrets.ts'
import { refuse } from '../core/errors.ts'
import type { Engine } from '../create-engine.ts'
import { workflowAction } from './action.ts'
import { Workflows } from './workflows.ts'

export interface WorkflowOptions {
  /** Internal hosts that steps may call: names, addresses, ranges, each with a port if it has one. */
  readonly allowHosts?: readonly string[]
  /** Where secrets of calls are looked up. Default: the environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

export interface OpenWorkflows {
  readonly workflows: Workflows
  /** Knows the workflow action: specs of jobs that run one are made with it. */
  readonly actions: Registry
  /** From now on the node takes jobs that run workflows. */
  serve(): void
  close(): Promise<void>
}

export function openWorkflows(engine: Engine, options: WorkflowOptions): OpenWorkflows {
  const { store, clock, handlers } = engine
  const { list, problems } = AllowList.parse(options.allowHosts ?? [], 'workflows.allowHosts')
  refuse('SETTINGS_INVALID', 'the settings are not valid', problems)
  const outbound = new Outbound({ clock, allow: list })
  const secrets = secretsFrom(options.env ?? {})
  const http = httpAction({ outbound, clock, userAgent: 'Carillon', secrets })
  const workflows = new Workflows({ store, clock, http })
  const actions = new Registry().add(workflowAction({ workflows, handlers, http, clock }))
  return {
    workflows,
    actions,
    serve: () => {
      for (const [name, handler] of actions.handlers) handlers.set(name, handler)
    },
    close: () => outbound.close(),
  }
}
