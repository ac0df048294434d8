import { expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { followLink, tabTo } from '#test/browser/keyboard.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { consoleStage, heading, openAs, person } from './harness.ts'

const stage = consoleStage()

it('compares a run with the one before, or another one, value by value and step by step, by keyboard alone', async () => {
  const { page, platform, agent } = stage
  const who = await person(stage)
  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const run = async (question: string, answer: string, steps: number, cost: number): Promise<string> => {
    const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: { question } } })
    const read = async () => (await platform.call('GET', `/console/runs/${body.id}`, { token: who.token })).body
    await expect.poll(async () => (await read()).status).toBe('running')
    const token = await callbackToken(platform.deps, app, body.id)
    const act = (at: string, sent: object) =>
      platform.call('POST', `/api/v1/runs/${body.id}/${at}`, { token, body: sent })
    for (let n = 0; n < steps; n++) await act('steps', { type: n === 0 ? 'message' : 'lookup', output: { text: 'x' } })
    await act('complete', { status: 'succeeded', output: { text: answer, '<img src=x>': 1 }, cost_units: cost })
    return body.id
  }
  await run('How many red mugs?', 'We have 12 red mugs.', 1, 3)
  await run('How many red mugs?', 'We have 9 red mugs left.', 1, 3)
  const last = await run('How many blue mugs?', 'We have 9 blue mugs left.', 2, 4)

  await openAs(stage, who, `/runs/${last}`)
  await heading(page, /^Run of/).waitFor()
  await followLink(page, 'Compare')
  await heading(page, 'Compare runs').waitFor()
  const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) })
  await row('question').locator('del', { hasText: 'red' }).waitFor()
  expect(await row('question').locator('ins').allTextContents()).toEqual(['blue'])
  expect(await row('text').locator('del').allTextContents()).toEqual(['red'])
  expect(await row('Cost units').getByRole('cell').allTextContents()).toEqual(['3', '4'])
  expect(await row('Version').getAttribute('class')).toBe(null)
  expect(await row('Cost units').getAttribute('class')).toBe('differs')
  expect(await row('Lookup').getByRole('cell').first().textContent()).toContain('Not there')
  expect(await page.locator('main img[src="x"]').count()).toBe(0)
  await expectAccessible(page, 'runs-compared')
  await page.setViewportSize({ width: 1_280, height: 800 })

  await tabTo(page, 'combobox', 'Compare with')
  await page.keyboard.press('End')
  await expect.poll(() => row('text').locator('del').allTextContents()).toEqual(['12', 'red'])
  await page.reload()
  await expect.poll(() => row('text').locator('del').allTextContents()).toEqual(['12', 'red'])
})

it('says that there is nothing to compare a first run with', async () => {
  const { page, platform, agent } = stage
  const who = await person(stage)
  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: {} } })
  await openAs(stage, who, `/runs/${body.id}/compare`)
  await page.getByText('This agent has no other run').waitFor()
  await expectAccessible(page, 'runs-compared-none')
})
