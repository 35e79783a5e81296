// Jobs to look at: loaded where there are none, removed when enough was seen.

import { act } from '../data/act.ts'
import { api } from '../data/api.ts'
import { reads } from '../data/reads.ts'
import { useRead } from '../data/read.ts'
import { isAdmin, seesEveryTenant } from '../data/session.ts'
import { plural } from './format.ts'
import { Card } from './page.tsx'

/** Only for those who may: its jobs belong to several tenants. */
const mayLoad = () => isAdmin.value && seesEveryTenant.value

const load = () => void act(() => api.post(reads.demo(), {}), { done: 'The demo is loaded' })
const remove = () => void act(() => api.delete(reads.demo()), { done: 'The demo is removed' })

export function LoadDemo() {
  if (!mayLoad()) return null
  return (
    <button type="button" class="button" onClick={load}>
      Load demo jobs
    </button>
  )
}

export function DemoCard() {
  const { data } = useRead(mayLoad() ? reads.demo() : null)
  if (data === undefined || !data.is_loaded) return null
  return (
    <Card title="Demo" wide>
      <div class="row between">
        <span>{plural(data.jobs, 'job')} of this store came with the demo. They reach nobody.</span>
        <button type="button" class="button" onClick={remove}>
          Remove the demo
        </button>
      </div>
    </Card>
  )
}
