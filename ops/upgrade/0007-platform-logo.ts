import { logoFetchWrites, PLATFORM_LOGO } from '#shared/catalogue/logos/index.ts'
import { PlatformIdentityEntity } from '#shared/staff/platform/index.ts'
import type { Upgrade } from './upgrade.ts'

/** Has the logo of the platform's own agent fetched, as {@link fetchEarlierLogos} does for apps. */
export const fetchPlatformLogo: Upgrade<typeof PlatformIdentityEntity> = {
  id: '0007-platform-logo',
  title: 'fetches the logo of the platform’s own agent',
  entity: PlatformIdentityEntity,
  async writes({ name, logo_url, logo }, work) {
    if (logo_url === undefined || logo !== undefined) return []
    return [PlatformIdentityEntity.check({ name }, { where: { logo_url } }), ...logoFetchWrites(work, PLATFORM_LOGO)]
  },
}
