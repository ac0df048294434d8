import { expect, it } from 'vitest'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { expectAccessible } from '#test/browser/accessible.ts'
import { allowInstalling, installed, member, workspace } from '#testkit/fixtures.ts'
import { consoleStage, heading, openAs } from './harness.ts'

const stage = consoleStage({}, { timezoneId: 'Europe/Amsterdam', locale: 'en-GB' })

const WEEKLY = {
  key: 'weekly_summary',
  name: 'Every Monday, sum up the week',
  when: { cron: '0 9 * * MON' },
  start: { input: { topic: 'the week' } },
}

/** An agent whose version proposes a schedule, installed in one workspace. */
const proposing = async () => {
  const app = await installed(stage.platform.deps, { endpoint: stage.agent.url })
  const manifest = { id: app.version.agent_id, version: '1.0.0', name: 'Agent', schedules: [WEEKLY] }
  await stage.platform.deps.table.transact([
    VersionEntity.update(app.version, { set: { manifest: { json: JSON.stringify(manifest) } } }),
  ])
  return app
}

it('a person turns on a schedule that an agent proposes, in their own time zone, and isn’t offered it again', async () => {
  const { page, platform } = stage
  const app = await proposing()
  const { token, user } = app.person
  const workspace = { id: app.installation.workspace_id, name: '' }
  await openAs(stage, { token, user: { id: user.id, name: user.name }, workspace }, `/agents/${app.installation.id}`)

  const proposals = page.getByRole('region', { name: 'Suggested schedules' })
  await proposals.getByText('They are off until you turn them on.').waitFor()
  await expectAccessible(page, 'schedule-proposals')
  await proposals.getByRole('button', { name: 'Turn on' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/Every Monday at 9:00 in Amsterdam.*without asking, until you pause it/).waitFor()
  await expectAccessible(page, 'schedule-proposal')
  await dialog.getByRole('button', { name: 'Turn on' }).click()
  await dialog.waitFor({ state: 'detached' })
  await proposals.getByRole('link', { name: 'Open schedule' }).click()
  await heading(page, WEEKLY.name).waitFor()

  const { body } = await platform.call('GET', '/console/schedules', { token })
  expect(body.items).toMatchObject([
    {
      name: WEEKLY.name,
      when: { cron: '0 9 * * MON', time_zone: 'Europe/Amsterdam' },
      start: WEEKLY.start,
      created_by: { id: user.id },
      proposal: WEEKLY.key,
    },
  ])
})

it('a person sees what an agent proposes before they install it, and can’t turn it on there', async () => {
  const { page, platform } = stage
  const made = await proposing()
  await allowInstalling(platform.deps, made)
  const home = await workspace(platform.deps)
  const { token, user } = await member(platform.deps, home.id, 'owner')
  const person = { token, user: { id: user.id, name: user.name }, workspace: { id: home.id, name: '' } }
  await openAs(stage, person, `/marketplace/${made.app.slug}`)
  const proposals = page.getByRole('region', { name: 'Suggested schedules' })
  await proposals.getByText('Every Monday at 9:00 in Amsterdam').waitFor()
  await proposals.getByText('They are off until you turn them on.').waitFor()
  expect(await proposals.getByRole('button').count()).toBe(0)
  await expectAccessible(page, 'schedule-proposals-before')
})
