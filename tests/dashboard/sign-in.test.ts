// Getting in and out: the link of the first start, a pasted token, roles; and what scripts can see.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { serveIn } from '../support/carillon.ts'
import { findBrowser, openWorld, type World } from './world.ts'

const found = findBrowser()

describe.runIf('path' in found)('signing in', () => {
  let world: World

  beforeAll(async () => {
    world = await openWorld((found as { path: string }).path)
  })

  afterAll(() => world?.end())

  it('takes a pasted token, keeps it where no script can read it, and forgets it again', async () => {
    const page = await world.signIn()
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({
      name: 'carillon_session',
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
    })
    expect(await page.evaluate('document.cookie')).toBe('')
    const kept = await page.evaluate<string>(
      'JSON.stringify({ ...localStorage, ...sessionStorage })',
    )
    expect(kept).not.toContain(cookie!.value.slice(0, 20))
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('Token or sign-in link').waitFor()
    expect(await page.context().cookies()).toEqual([])
    await page.context().close()
  })

  it('refuses a wrong token in words', async () => {
    const context = await world.context()
    const page = await context.newPage()
    await page.goto(world.address)
    await page.getByLabel('Token or sign-in link').fill('eyJh.eyJh.nothing')
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('not valid')
    await context.close()
  })

  it('shows viewers everything and lets them do nothing', async () => {
    await world.make({ name: 'seen.only' })
    const page = await world.signIn('viewer')
    await page.goto(`${world.address}/jobs`)
    await page.getByRole('link', { name: 'seen.only' }).click()
    await page.getByRole('heading', { level: 1, name: /seen\.only/ }).waitFor()
    expect(await page.getByRole('button', { name: /Run now|Pause/ }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
    await page.context().close()
  })

  it('signs in by the link of the first start, once, and takes the code out of the address', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-link-'))
    const serving = await serveIn(folder, { args: ['--log-level', 'silent'] })
    onTestFinished(async () => {
      await serving.kill()
      rmSync(folder, { recursive: true, force: true })
    })
    const link = /sign in\s+(http\S+)/.exec(serving.output())![1]!
    const context = await world.context()
    const page = await context.newPage()
    await page.goto(link)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(page.url()).toBe(`${serving.address}/`)
    const other = await (await world.context()).newPage()
    await other.goto(link)
    await other.getByLabel('Token or sign-in link').waitFor()
    await other.context().close()
    await context.close()
  })

  it('asks for a token again when the session is no longer good', async () => {
    const page = await world.signIn()
    await page.context().clearCookies()
    await page.goto(`${world.address}/jobs`)
    await page.getByLabel('Token or sign-in link').waitFor()
    expect(await page.getByRole('table').count()).toBe(0)
    await page.context().close()
  })
})
