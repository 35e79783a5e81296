// `carillon doctor`: whether what must always hold still does, and repairs where it does not.

import { define } from '../command.ts'

export const command = define({
  name: 'doctor',
  group: 'host',
  about: 'look for what is wrong inside a store or with a service, and repair it',
  flags: [{ flags: '--repair', about: 'put right what can be; asks first' }],
  isMutation: true,
  examples: [
    ['carillon doctor', 'look, and change nothing'],
    ['carillon doctor --repair --dry-run', 'what each repair would do'],
    ['carillon doctor --repair --yes', 'repair without being asked'],
    ['carillon doctor --server https://jobs.example.com', 'ask a service: it is not repaired'],
  ],
  notes: 'Every repair is one write of its own. Exit code 1: errors are left.',
  run: async (context, _, flags) => {
    const { placeOf } = await import('../target/place.ts')
    const place = await placeOf(context.globals)
    if (place.kind === 'remote') {
      const { examineService } = await import('../keeping/examine-service.ts')
      return examineService(context, flags['repair'] === true)
    }
    const { checkedPlace } = await import('../keeping/store.ts')
    const { examineStore } = await import('../keeping/examine.ts')
    return examineStore(context, checkedPlace(place.config.store), flags['repair'] === true)
  },
})
