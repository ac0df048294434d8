import { expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { consoleStage, heading, openAs, person } from './harness.ts'

const stage = consoleStage()

it('an owner sees which rules are about an agent that isn’t installed, and can still change them', async () => {
  const { page, platform } = stage
  const owner = await person(stage)
  const app = await installed(platform.deps, { workspaceId: owner.workspace.id, name: 'Stock helper' })
  const rules = [{ name: 'Owners decide', app_ids: [app.app.id], approvers: { role: 'owner' } }]
  await platform.call('PUT', '/console/settings/approvals', { token: owner.token, body: { rules } })
  await openAs(stage, owner, '/approvals')
  await page.getByText('Any tool of Stock helper', { exact: true }).waitFor()
  await platform.call('DELETE', `/console/installations/${app.installation.id}`, { token: owner.token })
  await page.reload()
  await page.getByText('Any tool of Stock helper (not installed)').waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Stock helper (not installed)').uncheck()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Any tool of any agent').waitFor()
})

it('an owner asks for two people, who approve a call one after the other', async () => {
  const { page, platform, agent } = stage
  const owner = await person(stage)
  const colleague = await person(stage, owner.workspace.id, 'member')
  await openAs(stage, owner, '/approvals')
  await heading(page, 'Approval rules').waitFor()
  await page.getByText('Any member may approve any call').waitFor()
  await page.getByRole('button', { name: 'Add a rule' }).click()
  await page.getByLabel('Name').fill('Payments')
  await page.getByLabel('Hosts').fill('127.0.0.1')
  await page.getByLabel('Who may approve').selectOption('member')
  await page.getByLabel('Second person').selectOption('at_least')
  await page.getByLabel('Field').fill('body.amount')
  await expectAccessible(page, 'approval-rule-edit')
  await page.setViewportSize({ width: 1_280, height: 800 })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('is 1,000 or more').waitFor()
  await page.getByLabel('Delegate').selectOption({ label: colleague.user.name })
  await page.getByLabel('Last day').fill('2026-12-31')
  await expectAccessible(page, 'approval-rules')

  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: owner.workspace.id })
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await expect
    .poll(async () => (await platform.call('GET', `/console/runs/${run.id}`, { token: owner.token })).body.status)
    .toBe('running')
  const args = { url: `${agent.url}/pay`, method: 'POST', body: '{"amount":2500}' }
  const { body: asked } = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token: await callbackToken(platform.deps, app, run.id),
    body: { arguments: args, reason: 'The invoice is due.' },
  })
  await page.evaluate(`location.hash = '/runs/${run.id}'`)
  await page.getByText('a second person has to as well').waitFor()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Somebody else has to approve it now.').waitFor()
  expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
  await expectAccessible(page, 'approval-second-person')
  const { body: seen } = await platform.call('GET', `/console/runs/${run.id}/steps/${asked.step_id}/approval`, {
    token: colleague.token,
  })
  expect(seen.rule).toMatchObject({ you_may_approve: true, approved_by: [{ by: { id: owner.user.id } }] })
  const path = `/console/runs/${run.id}/steps/${asked.step_id}/decision`
  const { body: decided } = await platform.call('POST', path, {
    token: colleague.token,
    body: { decision: 'approve', arguments_sha256: seen.arguments.sha256 },
  })
  expect(decided.status).toBe('running')
  await page.getByText(`Approved by ${owner.user.name} and ${colleague.user.name}`).waitFor()
})
