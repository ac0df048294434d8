import { describe, expect, it } from 'vitest'
import { describeVerification, readRange } from '#ops/audit/verify.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { anchorDays } from '#shared/staff/audit/anchor.ts'
import { hashAfter } from '#shared/staff/audit/chain.ts'
import { AuditDayEntity, AuditEntity, type AuditEntry, AuditIntakeEntity } from '#shared/staff/audit/entity.ts'
import { recordEntries, recordLeftovers } from '#shared/staff/audit/record.ts'
import { verifyAudit } from '#shared/staff/audit/verify.ts'
import { auditEntry } from '#shared/staff/audit/write.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
let scopes = 0

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** A workspace's audit of three days with four entries each, anchored unless the last ones aren't. */
const audited = async ({ anchorsLast = true } = {}) => {
  const scope = `ws_attack${++scopes}`
  const work = createWorkerWork(platform.deps)
  const first = platform.clock.now()
  for (let day = 0; day < 3; day++) {
    for (let i = 0; i < 4; i++) {
      platform.clock.advance(1_000)
      await platform.deps.table.transact([
        auditEntry(work, {
          scope,
          action: 'member.role_changed',
          actor: { type: 'user', id: 'usr_1' },
          target: { type: 'user', id: `usr_${i}` },
          details: { before: 'member', after: 'owner', n: day * 4 + i },
        }),
      ])
    }
    if (day < 2 || anchorsLast) await anchorDays(work)
    if (day < 2) platform.clock.advance(DAY)
  }
  const { items } = await platform.deps.table.query(AuditEntity, { scope }, { limit: 100, ascending: true })
  const range = { scope, from: dayOf(first), to: dayOf(platform.clock.now()) }
  const verify = () => verifyAudit(platform.deps, { ...range, now: platform.clock.now() })
  return { scope, items, range, verify, work }
}

/** Writes as somebody with every right to the table could. */
const put = (entry: AuditEntry) => platform.deps.table.transact([AuditEntity.replace(entry)])
const sixth = (items: AuditEntry[]) => items[5] as AuditEntry

describe('the audit', () => {
  it('is chained per day, every day continuing the last, and verifies', async () => {
    const { items, verify, range } = await audited()
    expect(items.map(({ chain }) => chain.seq)).toEqual([1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4])
    expect(items[4]?.chain.previous).toBe(items[3]?.chain.hash)
    const result = await verify()
    expect(result).toEqual({ days: 3, entries: 12, unanchored: 0 })
    expect(describeVerification(range, result)[0]).toMatch(/is intact: 12 entries on 3 days/)
  })

  it('names an entry that was changed', async () => {
    const { items, verify } = await audited()
    const entry = sixth(items)
    await put({ ...entry, details: { ...entry.details, after: 'member' } })
    expect((await verify()).broken).toEqual({
      day: entry.chain.day,
      seq: 2,
      id: entry.id,
      problem: 'The entry was changed.',
    })
  })

  it('names an entry that was removed', async () => {
    const { items, verify } = await audited()
    await platform.deps.table.transact([AuditEntity.delete(sixth(items))])
    expect((await verify()).broken).toMatchObject({ seq: 2, id: sixth(items).id, problem: 'The entry is missing.' })
  })

  it('names an entry that was added, with and without a place in the chain', async () => {
    const { items, verify } = await audited()
    const entry = sixth(items)
    const twin = { ...entry, id: `${entry.id.slice(0, -1)}${entry.id.endsWith('0') ? '1' : '0'}` }
    await put(twin)
    expect((await verify()).broken).toMatchObject({ id: twin.id, problem: 'The entry was added.' })
    await platform.deps.table.transact([AuditEntity.update(twin, { set: { chain: undefined } as object })])
    expect((await verify()).broken).toMatchObject({ id: twin.id, problem: 'The entry isn’t in the chain.' })
  })

  it('names the first changed entry when the whole chain after it was rewritten, because the bucket has it', async () => {
    const { scope, items, verify } = await audited()
    const day = items[4]?.chain.day ?? ''
    let previous = items[4]?.chain.previous ?? ''
    for (const [i, entry] of items.slice(4, 8).entries()) {
      const changed = i === 1 ? { ...entry, details: { forged: true } } : entry
      const hash = hashAfter(previous, changed)
      await put({ ...changed, chain: { day, seq: i + 1, previous, hash } })
      previous = hash
    }
    await platform.deps.table.transact([AuditDayEntity.update({ scope, day }, { set: { head: previous } })])
    expect((await verify()).broken).toMatchObject({
      seq: 2,
      id: sixth(items).id,
      problem: 'The entry was changed, and the chain after it rewritten.',
    })
  })

  it('notices that a whole day was removed', async () => {
    const { scope, items, verify } = await audited()
    const day = items[4]?.chain.day ?? ''
    await platform.deps.table.transact([
      AuditDayEntity.delete({ scope, day }),
      ...items.slice(4, 8).map((entry) => AuditEntity.delete(entry)),
    ])
    expect((await verify()).broken).toMatchObject({ day, id: items[4]?.id })
  })

  it('says how many entries aren’t in the bucket yet, and never replaces what is', async () => {
    const { verify, work } = await audited({ anchorsLast: false })
    expect((await verify()).unanchored).toBe(4)
    const before = [...platform.objects].filter(([key]) => key.startsWith('audit/'))
    await anchorDays(work)
    expect((await verify()).unanchored).toBe(0)
    for (const [key, bytes] of before) expect(platform.objects.get(key)).toBe(bytes)
  })

  it('keeps an entry as it was written first, whatever is written under its id afterwards', async () => {
    const { items, verify, work } = await audited()
    const { chain: _chain, ...entry } = sixth(items)
    await recordEntries(work, [{ ...entry, details: { forged: true } }])
    const kept = await platform.deps.table.get(AuditEntity, entry)
    expect(kept?.details).toEqual(entry.details)
    expect((await verify()).broken).toBeUndefined()
    expect(platform.logs.join('\n')).toContain('written again with another content')
  })

  it('gets entries that the stream lost from the intake, once', async () => {
    const { scope, items, verify, work } = await audited()
    const { chain: _chain, ...entry } = sixth(items)
    const lost = { ...entry, ...stampOf(work.id('audit')) }
    await platform.loseAuditEntry(lost)
    await recordLeftovers(work)
    expect(await platform.deps.table.get(AuditEntity, lost)).toBeUndefined()
    platform.clock.advance(180_000)
    await Promise.all([recordLeftovers(work), recordLeftovers(work)])
    expect(await platform.deps.table.get(AuditEntity, lost)).toMatchObject({ chain: { seq: 5 } })
    expect(await platform.deps.table.get(AuditIntakeEntity, { scope, id: lost.id })).toBeUndefined()
    await anchorDays(work)
    expect((await verify()).broken).toBeUndefined()
  })

  it('is chained exactly under concurrent recorders', async () => {
    const scope = `ws_attack${++scopes}`
    const work = createWorkerWork(platform.deps)
    const entries = Array.from({ length: 60 }, (_, n) => ({
      ...stampOf(work.id('audit')),
      scope,
      action: 'agent.called',
      actor: { type: 'agent', id: 'ins_1' },
      target: { type: 'agent', id: 'ins_2' },
      details: { n },
    }))
    const parts = [0, 1, 2, 3].map((i) => entries.slice(i * 10, i * 10 + 30))
    await Promise.all(parts.map((part) => recordEntries(work, part)))
    const day = dayOf(platform.clock.now())
    const result = await verifyAudit(platform.deps, { scope, from: day, to: day, now: platform.clock.now() })
    expect(result).toMatchObject({ entries: 60, unanchored: 60 })
    expect(result.broken).toBeUndefined()
  })
})

it('the command refuses ranges that aren’t', () => {
  expect(() => readRange({ scope: 'all' }, 0)).toThrow(/--scope/)
  expect(() => readRange({ scope: 'platform', from: 'yesterday' }, 0)).toThrow(/--from/)
  expect(() => readRange({ scope: 'platform', from: '2026-02-02', to: '2026-02-01' }, 0)).toThrow(/after/)
})
