import * as z from 'zod'
import { InstallationEntity } from '#shared/access/installations/index.ts'
import { type Work, type WorkWrite, withoutAnswer } from '#shared/foundation/work/index.ts'
import type { Belonging } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { newRun } from '#shared/work/runs/index.ts'
import { installSampleAgent } from '../../sample/index.ts'
import { createSchedule, type NewSchedule, personManager } from '../../schedules/index.ts'
import { SeedEntity } from '../entity.ts'
import { seedRecords } from './records.ts'

/** Number of records that were created, by kind. */
export const DemoSchema = () =>
  z
    .object({
      tasks: z.number().int(),
      runs: z.number().int(),
      notifications: z.number().int(),
      schedules: z.number().int(),
      messages: z.number().int(),
    })
    .meta({ id: 'SeededDemo' })

/** Input of a real run, in which the sample agent asks for an approval. */
const ASKED = { question: 'Open https://example.com and tell me what it answers.' }

/**
 * Handles `POST /console/demo`: fills the workspace of a local run with the records of a sandbox seed, for the sample agent,
 * which it installs, and starts a run that waits for an approval. Files are left out, because the console's function can't write any. Everything or nothing is written.
 * @throws `console_provisioning_disabled` outside of local runs; `conflict` if the workspace was filled before; see also
 *   {@link installSampleAgent}
 */
export const seedDemo = async (work: Work, belonging: Belonging): Promise<z.infer<ReturnType<typeof DemoSchema>>> => {
  if (!work.settings.consoleAutoProvision) throw fail('console_provisioning_disabled')
  const { workspace, member } = belonging
  const seedId = work.id('audit')
  if (await work.table.get(SeedEntity, { workspace_id: workspace.id })) throw filledBefore()
  const { id } = await installSampleAgent(withoutAnswer(work), belonging)
  const installation = await work.table.get(InstallationEntity, { workspace_id: workspace.id, id })
  if (!installation) throw fail('conflict', { message: 'The sample agent was uninstalled in the meantime.' })
  const { made, messages, writes } = await seedRecords(work, {
    seedId,
    workspaceId: workspace.id,
    owner: { id: member.user_id, name: member.name },
    agents: [installation],
    isForPerson: true,
  })
  const asking = await newRun(work, {
    installation,
    input: ASKED,
    trigger: 'manual',
    actor: { id: member.user_id, name: member.name },
  })
  const scheduled = await scheduleWrites(work, belonging, installation.id)
  const seed = {
    workspace_id: workspace.id,
    ...stampOf(seedId),
    ...made,
    file_ids: [],
    folder_ids: [],
  }
  const view = {
    tasks: made.task_ids.length,
    runs: made.runs.length + 1,
    notifications: made.notification_ids.length,
    schedules: 1,
    messages,
  }
  await work.commit(
    [SeedEntity.create(seed, { otherwise: filledBefore }), ...writes, ...asking.writes, ...scheduled],
    view,
  )
  return view
}

/** Returns the writes of a schedule, checked like every other, for the transaction of the demo. */
const scheduleWrites = async (
  work: Work,
  { workspace, member }: Belonging,
  installation_id: string,
): Promise<readonly WorkWrite[]> => {
  let held: readonly WorkWrite[] = []
  const holding: Work = {
    ...work,
    commit: async (writes) => {
      held = writes
    },
  }
  const owner = { id: member.user_id, name: member.name }
  const given: NewSchedule & { installation_id: string } = {
    installation_id,
    name: 'Weekday report on the workspace',
    start: { input: { question: 'Tell me about this workspace' } },
    when: { cron: '0 9 * * MON-FRI', time_zone: workspace.time_zone },
    overlap: 'skip',
    missed: 'latest',
  }
  await createSchedule(holding, personManager(workspace, owner, member), given, () => {})
  return held
}

const filledBefore = () =>
  fail('conflict', {
    message: 'The workspace already has the demo’s records.',
    fix: 'Sign in to another workspace to start again.',
  })
