import { describe, expect, it } from 'vitest'
import { QUEUES } from '#shared/foundation/queues/index.ts'
import { QUEUE_NAMES } from '#shared/kernel/queue-names.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

const ID = '01kf0rdqg00000000000000001'
const run = { run_id: `run_${ID}`, installation_id: `ins_${ID}` }
const event = (type: string, data: object = {}) => ({
  id: `evt_${ID}`,
  type,
  created_at: 0,
  workspace_id: `wsp_${ID}`,
  data: JSON.stringify(data),
})

const deliver = (queue: (typeof QUEUE_NAMES)[number], body: unknown) =>
  platform.deliver({ queue, body, dueAt: 0, group: undefined })

/** The kinds of messages that a queue takes, apart from events. */
const KINDS: Partial<Record<(typeof QUEUE_NAMES)[number], object[]>> = {
  fanout: [{ kind: 'carry', event_id: `evt_${ID}` }],
  dispatch: [
    {
      kind: 'start',
      event: event('run.created', run),
      names: { version_id: `ver_${ID}`, is_sandbox: false },
    },
    { kind: 'run', ...run },
    { kind: 'follow', ...run, round: 2 },
    { kind: 'follow', ...run },
    { kind: 'chat', conversation_id: `cnv_${ID}` },
  ],
  'inline-runs': [{ kind: 'run', ...run }],
  'approved-tools': [{ kind: 'call', ...run, step_id: `stp_${ID}` }],
  messenger: [
    { kind: 'thread', workspace_id: `wsp_${ID}`, thread_id: `dlg_${ID}` },
    { kind: 'account', workspace_id: `wsp_${ID}`, account_id: `acc_${ID}` },
  ],
}

describe('a message of a queue', () => {
  it.each(Object.entries(KINDS).flatMap(([queue, bodies]) => bodies.map((body) => [queue, body] as const)))(
    'to %s is taken by its kind, and does nothing about a record that isn’t there: %j',
    async (queue, body) => {
      expect(await deliver(queue as keyof typeof KINDS, body)).toBe(true)
    },
  )

  it.each(QUEUE_NAMES.filter((queue) => queue !== 'live' && queue !== 'overdue'))(
    'to %s is given back if its kind is missing or unknown, and never guessed by its fields',
    async (queue) => {
      const fields = { ...run, step_id: `stp_${ID}`, event: event('run.created', run), event_id: `evt_${ID}` }
      expect(await deliver(queue, fields)).toBe(false)
      expect(await deliver(queue, { kind: 'other', ...fields })).toBe(false)
    },
  )

  it('that the bus sends is read out of its envelope, and has the kind event', async () => {
    const type = 'run.resumed'
    const detail = event(type, { ...run, step_id: `stp_${ID}` })
    expect(await deliver('dispatch', { version: '0', source: 'platform', 'detail-type': type, detail })).toBe(true)
    expect(await deliver('dispatch', { kind: 'event', event: detail })).toBe(true)
  })

  it.each(['dispatch', 'messenger'] as const)('about an event that %s has no use for is given back', async (queue) => {
    expect(QUEUES[queue].fromBus).not.toContain('run.created')
    expect(await deliver(queue, { kind: 'event', event: event('run.created', run) })).toBe(false)
  })
})
