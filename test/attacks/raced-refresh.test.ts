import { beforeEach, describe, expect, it } from 'vitest'
import { RefreshSuccessorEntity, RefreshTokenEntity } from '#shared/access/grants/entity.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { actors } from '#testkit/oauth.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const act = actors(platform)
beforeEach(() => platform.clock.advance(60_000))

/** Refreshes with a token that another request rotated after this one had read it, and `later` ms before its write. */
const lostRace = async (later: number) => {
  const client = await act.connected()
  const { table } = platform.deps
  const transact = table.transact.bind(table)
  table.transact = async (writes) => {
    if (writes.some(({ entity }) => entity.name === 'refresh-token')) {
      table.transact = transact
      expect((await act.refresh(client, client.tokens.refresh_token)).status).toBe(200)
      platform.clock.advance(later)
    }
    return transact(writes)
  }
  const answer = await act.refresh(client, client.tokens.refresh_token).finally(() => {
    table.transact = transact
  })
  return { client, answer }
}

describe('the pair that replaced a refresh token', () => {
  it('is given to a request that lost the race within a minute, and to nobody after it', async () => {
    expect((await lostRace(59_000)).answer.status).toBe(200)
    const { answer } = await lostRace(60_000)
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'invalid_grant'])
  })

  it('isn’t part of the record that lives as long as the token', async () => {
    const { client } = await lostRace(0)
    const token_hash = sha256(client.tokens.refresh_token)
    const { table, clock } = platform.deps
    const kept = await table.get(RefreshSuccessorEntity, { token_hash })
    expect(Object.values((await table.get(RefreshTokenEntity, { token_hash })) ?? {})).not.toContain(kept?.kept)
    expect(kept?.expires_at).toBe(clock.now() + 60_000)
  })
})
