import { resolveUrl } from '../session/config.ts'
import { sanitize } from '../session/text.ts'
import type { components } from './platform.d.ts'

export type Screenshot = components['schemas']['Screenshot']

/**
 * An image of an app's listing, in its proportions, so that nothing moves when it has loaded.
 * @param captioned its caption stands next to it
 */
export const ScreenshotImage = ({
  path,
  caption,
  width,
  height,
  captioned,
}: Omit<Screenshot, 'id'> & { captioned?: boolean }) => (
  <img
    class="screenshot"
    src={resolveUrl(path.slice(1))}
    alt={captioned ? '' : sanitize(caption)}
    width={width}
    height={height}
    loading="lazy"
    referrerpolicy="no-referrer"
  />
)
