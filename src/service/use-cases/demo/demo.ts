// Jobs with a past to look at, loaded and removed as one.

import { z } from 'zod'
import { heldDemo, loadDemo, removeDemo } from '../../../demo/demo.ts'
import { clientOf, recordAudit } from '../call/client.ts'
import { EVERY_TENANT } from '../../auth/principal.ts'
import { useCase } from '../call/use-case.ts'

const nothing = z.strictObject({}).optional()

export const demoAnswer = z
  .strictObject({ is_loaded: z.boolean(), jobs: z.int().nonnegative() })
  .meta({ id: 'Demo', description: 'Whether the demo is loaded, and how many jobs it brought.' })

export const describeDemo = useCase({
  access: 'viewer',
  result: demoAnswer,
  handle: async call => {
    const held = await heldDemo(call.engine)
    return { is_loaded: held !== null, jobs: held?.jobs.length ?? 0 }
  },
})

export const loadDemoJobs = useCase({
  access: 'every-tenant',
  body: nothing,
  status: 201,
  result: demoAnswer,
  keeps: true,
  handle: async call => {
    const { jobs } = await loadDemo(call, clientOf(call))
    await recordAudit(call, { tenant: EVERY_TENANT, action: 'demo.load', object: null })
    return { is_loaded: true, jobs }
  },
})

export const removeDemoJobs = useCase({
  access: 'every-tenant',
  result: demoAnswer,
  handle: async call => {
    await removeDemo(call, clientOf(call))
    await recordAudit(call, { tenant: EVERY_TENANT, action: 'demo.remove', object: null })
    return { is_loaded: false, jobs: 0 }
  },
})
