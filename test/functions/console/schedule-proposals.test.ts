import { expect, it } from 'vitest'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { allowInstalling, installed, member } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { succeeds } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { consoleOf } from './notifications-support.ts'

const platform = usingPlatform()
const agent = usingReceiver()

const WEEKLY = {
  key: 'weekly_summary',
  name: 'Every Monday, sum up the week',
  when: { cron: '0 9 * * MON' },
  start: { input: { topic: 'the week' } },
}
const HOURLY = { ...WEEKLY, key: 'hourly', name: 'Each hour', when: { every: 'PT1H' } }

/** An agent whose installed version proposes two schedules, and a person of its workspace. */
const setUp = async () => {
  agent.answer(succeeds({}))
  platform.clock.advance(MINUTE)
  const app = await installed(platform.deps, { endpoint: agent.url })
  const manifest = { id: app.version.agent_id, version: '1.0.0', name: 'Agent', schedules: [WEEKLY, HOURLY] }
  const set = { manifest: { json: JSON.stringify(manifest) } }
  await platform.deps.table.transact([VersionEntity.update(app.version, { set })])
  const { installation, person } = app
  const as = (token: string) => {
    const { call, read } = consoleOf(platform, token)
    const proposals = async (): Promise<Record<string, string | null>> => {
      const { items } = await read(`/schedules/proposals?installation_id=${installation.id}`)
      return Object.fromEntries(
        items.map((one: { key: string; schedule_id: string | null }) => [one.key, one.schedule_id]),
      )
    }
    const turnOn = ({ key, ...fields }: { key: string; when: object } & object, time_zone?: string) =>
      call('POST', '/schedules', {
        installation_id: installation.id,
        ...fields,
        ...(time_zone && { when: { ...fields.when, time_zone } }),
        proposal: key,
      })
    return { call, read, proposals, turnOn }
  }
  return { app, as, owner: as(person.token) }
}

it('a proposal starts nothing until a person turns it on, and then acts for that person', async () => {
  const { app, owner } = await setUp()
  const runs = async () => (await owner.read('/runs')).items
  platform.clock.advance(2 * HOUR)
  await platform.sweep()
  await platform.drain()
  expect(await runs()).toEqual([])
  expect(await owner.proposals()).toEqual({ weekly_summary: null, hourly: null })
  const made = await succeeded(owner.turnOn(HOURLY))
  expect(made).toMatchObject({ name: HOURLY.name, proposal: 'hourly', created_by: { id: app.person.user.id } })
  platform.clock.advance(HOUR)
  await platform.sweep()
  await platform.drain()
  expect(await runs()).toMatchObject([{ trigger: 'schedule', started_by: { id: app.person.user.id } }])
})

it('a proposal that is on isn’t offered again to those who see its schedule, until that is deleted', async () => {
  const { app, as, owner } = await setUp()
  const colleague = as((await member(platform.deps, app.installation.workspace_id, 'member')).token)
  const theirs = await succeeded(colleague.turnOn(WEEKLY, 'Europe/Amsterdam'))
  expect(theirs.when).toEqual({ cron: '0 9 * * MON', time_zone: 'Europe/Amsterdam' })
  expect(await colleague.proposals()).toEqual({ weekly_summary: theirs.id, hourly: null })
  expect(await owner.proposals()).toEqual({ weekly_summary: theirs.id, hourly: null })
  const mine = await succeeded(owner.turnOn(HOURLY))
  // A member doesn’t see the schedules of others, so they may want one of their own.
  expect(await colleague.proposals()).toEqual({ weekly_summary: theirs.id, hourly: null })
  await succeeded(owner.call('POST', `/schedules/${mine.id}/pause`))
  expect((await owner.proposals()).hourly).toBe(mine.id)
  await owner.call('DELETE', `/schedules/${mine.id}`)
  expect((await owner.proposals()).hourly).toBeNull()
})

it('only a proposal of the installed version can be turned on', async () => {
  const { owner } = await setUp()
  const { status, body } = await owner.turnOn({ ...HOURLY, key: 'gone' })
  expect([status, body.error.details.fields]).toEqual([
    422,
    { proposal: [expect.stringContaining('installed version')] },
  ])
})

it('people see what an agent proposes before they install it', async () => {
  const { app, owner } = await setUp()
  await allowInstalling(platform.deps, app)
  const { schedules } = await owner.read(`/install/${app.app.slug}`)
  expect(schedules).toEqual([WEEKLY, HOURLY])
})
