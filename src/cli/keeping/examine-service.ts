// What a service says about itself: reached, of this version, clocks alike, nodes at work, and what
// it thinks a person should look at.

import type { System } from '../../client/index.ts'
import type { Api } from '../target/api.ts'
import { formatDuration } from '../../core/time.ts'
import { version } from '../../service/version.ts'
import type { Context } from '../context.ts'
import { exits } from '../exits.ts'
import { usage } from '../problem.ts'
import { safe } from '../screen.ts'

interface Told {
  readonly code: string
  readonly severity: 'error' | 'warning' | 'info'
  readonly text: string
}

const SKEW_MS = 2_000

export async function examineService(context: Context, repairs: boolean): Promise<number> {
  if (repairs) throw usage('a service is not repaired from outside', 'give --store on its machine')
  const { signal } = context
  const target = await context.target()
  const { client } = target
  const before = context.now()
  const system = await client.system({ signal })
  const skew = Math.abs(Date.parse(system.now) - (before + context.now()) / 2)
  const findings = [...own(system, skew), ...(await attention(client, signal))]
  const head = `${target.name}: Carillon ${system.version} on ${system.store.promise ?? system.store.kind}`
  context.show({ server: target.name, version: system.version, findings }, () =>
    [head, ...findings.map(({ severity, text }) => `${severity === 'error' ? 'x' : '!'} ${text}`)]
      .map(safe)
      .join('\n'),
  )
  const errors = findings.filter(({ severity }) => severity === 'error').length
  context.say(`${errors} error${errors === 1 ? '' : 's'}, ${findings.length - errors} to look at`)
  return errors > 0 ? exits.failed : exits.ok
}

function own(system: System, skew: number): Told[] {
  const found: Told[] = []
  const add = (code: string, severity: Told['severity'], text: string) =>
    found.push({ code, severity, text })
  if (system.store.status !== 'reachable')
    add('store', 'error', `the store is ${system.store.status}`)
  if (system.version !== version) {
    add('version', 'warning', `the service is version ${system.version}, this program ${version}`)
  }
  if (skew > SKEW_MS) {
    add('clock-skew', 'warning', `its clock differs from this one by ${formatDuration(skew)}`)
  }
  if (system.nodes.length === 0) add('no-node', 'warning', 'no node is at work')
  return found
}

async function attention(client: Api, signal: AbortSignal): Promise<Told[]> {
  const { findings } = await client.attention({ signal })
  return findings.filter(({ code }) => code !== 'no-node')
}
