// What happens in the engine is on the screen by itself, over one connection for all tabs.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/servers/wait.ts'
import { findBrowser, openWorld, type World } from './world.ts'

const found = findBrowser()

describe.runIf('path' in found)('live updates', () => {
  let world: World

  beforeAll(async () => {
    world = await openWorld((found as { path: string }).path)
  })

  afterAll(() => world?.end())

  it('come to every tab over one connection, which another tab takes over', async () => {
    const { id } = await world.make({ name: 'told.live', trigger: { manual: true } })
    const first = await world.signIn()
    const context = first.context()
    const streams: string[] = []
    context.on('request', request => {
      if (request.url().includes('/api/v1/events')) streams.push(request.url())
    })
    const second = await context.newPage()
    for (const page of [first, second]) {
      await page.goto(`${world.address}/jobs/${id}`)
      await page.getByRole('button', { name: /^Live/ }).waitFor()
    }
    // Going to another address opened the leader's connection anew; the second tab opened none.
    expect(streams).toHaveLength(1)
    await world.call('POST', `/jobs/${id}/run`)
    for (const page of [first, second]) {
      await page.getByRole('table', { name: 'Newest runs' }).getByText('Completed').waitFor()
    }
    await first.close()
    await eventually('the other tab reads on', () => (streams.length === 2 ? true : null))
    await world.call('POST', `/jobs/${id}/run`)
    await eventually('both runs are there', async () =>
      (await second.getByRole('table', { name: 'Newest runs' }).getByText('Completed').count()) ===
      2
        ? true
        : null,
    )
    await context.close()
  })

  it('can be paused and taken up again', async () => {
    const { id } = await world.make({ name: 'told.later', trigger: { manual: true } })
    const page = await world.signIn()
    await page.goto(`${world.address}/jobs/${id}`)
    await page.getByRole('button', { name: /^Live/ }).waitFor()
    await page.keyboard.press('.')
    await page.getByRole('button', { name: 'Live paused' }).waitFor()
    await world.call('POST', `/jobs/${id}/run`)
    await eventually('it ran', async () => {
      const job = await world.call<{ run_count: number }>('GET', `/jobs/${id}`)
      return job.run_count === 1 ? true : null
    })
    const runs = page.getByRole('table', { name: 'Newest runs' })
    expect(await runs.count()).toBe(0)
    await page.getByRole('button', { name: 'Live paused' }).click()
    await page.getByRole('table', { name: 'Newest runs' }).getByText('Completed').waitFor()
    await page.context().close()
  })

  it('shows what runs, cancels it, and tells when the service is away', async () => {
    const { id } = await world.make({
      name: 'runs.long',
      handler: 'work.slow',
      trigger: { manual: true },
    })
    const page = await world.signIn()
    await world.call('POST', `/jobs/${id}/run`)
    const line = page.locator('.running li', { hasText: 'runs.long' })
    await line.getByRole('button', { name: /^Cancel/ }).click()
    await line.waitFor({ state: 'detached' })
    await page.context().setOffline(true)
    world.serving.child.kill('SIGKILL')
    await page.getByRole('button', { name: /^(?:Offline|Connecting)/ }).waitFor()
    await page.context().close()
    expect(world.complaints).toEqual([])
  })
})
