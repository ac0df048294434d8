import { RefreshTokenEntity } from '#shared/access/grants/index.ts'
import type { Upgrade } from './upgrade.ts'

/** Removes the answers of refreshes from records that kept them for as long as the token: they now live a minute. */
export const forgetRefreshSuccessors: Upgrade<typeof RefreshTokenEntity> = {
  id: '0002-refresh-successors',
  title: 'removes the sealed token pairs that replaced refresh tokens kept',
  entity: RefreshTokenEntity,
  async writes({ token_hash, kept }) {
    if (kept === undefined) return []
    return [RefreshTokenEntity.update({ token_hash }, { set: { kept: undefined } }, { where: { kept } })]
  },
}
