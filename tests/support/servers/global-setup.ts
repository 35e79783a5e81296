// For vitest: the broker of this run, unless `npm test` started one for all suites.

import { BROKER_VARIABLE, startBroker } from './broker.ts'

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[BROKER_VARIABLE] !== undefined) return undefined
  const broker = await startBroker()
  process.env[BROKER_VARIABLE] = broker.url
  return () => broker.stop()
}
