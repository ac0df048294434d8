import { InstallationEntity, lapsedConsentWrites } from '#shared/access/installations/index.ts'
import type { Upgrade } from './upgrade.ts'

/** Withdraws the access of apps whose last grant ended before the end of a consent did that. */
export const withdrawLapsed: Upgrade<typeof InstallationEntity> = {
  id: '0005-lapsed-consents',
  title: 'withdraws the access of apps whose last consent ended before',
  entity: InstallationEntity,
  writes: (installation, work) => lapsedConsentWrites(work, installation),
}
