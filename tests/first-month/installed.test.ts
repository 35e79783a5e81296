// The package as it is installed: a program, the command and the service start.

import { expect, it } from 'vitest'
import { freshStore, runCli, runProgram, startService } from './harness/index.ts'

it('M3 a program runs a job from the packed package with default options (guard)', async () => {
  const { code, stdout } = await runProgram(`
    import { createScheduler, job } from 'carillon'
    const hello = job('hello', { run: () => 'hi' })
    const scheduler = await createScheduler({ jobs: [hello] }).start()
    const run = await scheduler.trigger('hello', undefined)
    console.log(JSON.stringify({ result: await run.result() }))
    await scheduler.stop()`)
  expect(stdout).toContain('{"result":"hi"}')
  expect(code).toBe(0)
})

it('M3 the command answers with its version (guard)', async () => {
  const { code, stdout } = await runCli(['--version'])
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+/),
  })
})

for (const kind of ['sqlite', 'postgres', 'redis'] as const) {
  it(`M3 the service becomes ready on ${kind} and stops cleanly (guard)`, async ({ skip }) => {
    const service = await startService(['--store', await freshStore(kind, skip)])
    expect((await service.request('GET', '/readyz')).status).toBe(200)
    expect((await service.request('GET', '/api/v1/jobs')).status).toBe(200)
    expect(await service.stop()).toMatchObject({ code: 0 })
  })
}
