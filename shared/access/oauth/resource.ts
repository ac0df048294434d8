import { fail } from '#shared/kernel/errors.ts'
import type { Settings } from '#shared/kernel/settings.ts'

/**
 * Refuses any resource but the one that apps' tokens are for (RFC 8707 §2).
 * @param resource addresses, separated by spaces
 * @throws `invalid_target`
 */
export const refuseOtherResource = ({ baseUrl }: Pick<Settings, 'baseUrl'>, resource: string | undefined): void => {
  if (!resource || resource.split(' ').every((address) => address === `${baseUrl}/api/v1`)) return
  throw fail('invalid_target', { details: { expected: `${baseUrl}/api/v1`, received: resource.slice(0, 2_048) } })
}
