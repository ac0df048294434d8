import { expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { hostActors, hostToken } from '#testkit/hosts.ts'
import { consoleStage, heading, openAs, person } from './harness.ts'

const stage = consoleStage()

it('a person sees and disconnects their assistants, and an owner says which are allowed', async () => {
  const { page, platform } = stage
  const owner = await person(stage)
  const who = { workspaceId: owner.workspace.id, userId: owner.user.id }
  const client = { id: 'https://claude.ai/oauth/mcp.json', name: 'Claude', host: 'claude.ai' }
  await hostToken(platform.deps, who, { client })
  const desk = { id: 'https://desk.example/client.json', name: 'Desk', host: 'desk.example' }
  await hostToken(platform.deps, who, { client: desk, resource: '/a2a', scopes: ['runs:read', 'runs:write'] })
  await openAs(stage, owner, '/assistants')
  await heading(page, 'Connected assistants').waitFor()
  await page.getByText('claude.ai').first().waitFor()
  await page.getByText(/all agents, over A2A/).waitFor()
  await page.getByLabel('Only those on this list').check()
  await page.getByLabel('Hosts').fill('claude.ai\nlocalhost')
  await expectAccessible(page, 'assistants')
  await page.setViewportSize({ width: 1_280, height: 800 })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. Changes apply to the next request.').waitFor()
  const { body } = await platform.call('GET', '/console/settings/hosts', { token: owner.token })
  expect(body).toEqual({ enabled: true, allowed_hosts: ['claude.ai', 'localhost'] })
  for (const name of ['Desk', 'Claude']) {
    const card = page.getByRole('article', { name })
    await card.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
    await card.waitFor({ state: 'detached' })
  }
  await page.getByText('No assistant is connected.').waitFor()
})

it('a person consents to an assistant, sensitive permissions only if they tick them', async () => {
  const { page, platform, url } = stage
  const owner = await person(stage)
  const act = hostActors(platform)
  const redirect_uri = 'http://localhost:9/callback'
  const clientId = await act.register({ client_name: 'Code editor', redirect_uris: [redirect_uri] })
  const tg = await act.link(clientId, { redirect_uri, scope: 'runs:read runs:write chat:write' })
  stage.mayAsk.add('http://localhost:9')
  await page.goto(`${url}/connect/consent?tg=${tg}`)
  await page.getByLabel('Person').fill(owner.user.name)
  await page.getByRole('textbox', { name: 'Workspace' }).fill(owner.workspace.id)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await heading(page, /is requesting access/).waitFor()
  await page.getByText('Unverified name').waitFor()
  await page.getByText('You return to a program on this device').waitFor()
  const sensitive = page.getByRole('checkbox')
  expect(await sensitive.isChecked()).toBe(false)
  await expectAccessible(page, 'consent-assistant')
  await page.setViewportSize({ width: 1_280, height: 800 })
  const back = page.waitForRequest((request) => request.url().startsWith(redirect_uri))
  await page.getByRole('button', { name: 'Approve' }).click()
  const returned = new URL((await back).url())
  expect(returned.searchParams.get('iss')).toMatch(/\/connect$/)
  const { body } = await platform.call('GET', '/console/grants?kind=host', { token: owner.token })
  expect(body.items[0]).toMatchObject({
    client: { name: 'Code editor', host: 'localhost' },
    scopes: ['runs:read', 'runs:write'],
  })
})
