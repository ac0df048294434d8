import { fail } from '#shared/kernel/errors.ts'
import { screenshotPath } from '../logos/path.ts'
import type { App, Screenshot } from './entity.ts'
import type { ScreenshotView, UploadedView } from './screenshot-schemas.ts'

/** Returns an uploaded image as its developer sees it. */
export const presentUpload = (app_id: string, { id, width, height }: Omit<Screenshot, 'caption'>): UploadedView => ({
  id,
  path: screenshotPath(app_id, id),
  width,
  height,
})

/** Returns the screenshots of an app's listing. */
export const presentScreenshots = (app_id: string, screenshots: readonly Screenshot[] = []): ScreenshotView[] =>
  screenshots.map((one) => ({ ...presentUpload(app_id, one), caption: one.caption }))

/**
 * Completes the screenshots of an edit with the sizes of their images.
 * @throws `validation_error` for an image that wasn't uploaded for this app, or was replaced by later uploads
 */
export const resolveScreenshots = (
  { uploads = [], screenshots = [], pending_revision }: App,
  wanted: readonly Pick<Screenshot, 'id' | 'caption'>[],
): Screenshot[] => {
  const known = new Map(
    [...uploads, ...screenshots, ...(pending_revision?.changes.screenshots ?? [])].map((one) => [one.id, one]),
  )
  return wanted.map(({ id, caption }, i) => {
    const image = known.get(id)
    if (image) return { id, caption, width: image.width, height: image.height }
    throw fail('validation_error', {
      message: 'A screenshot isn’t among the app’s uploads.',
      fix: 'Upload the image with POST /api/v1/dev/apps/{id}/screenshots, then use its id.',
      details: { fields: { [`screenshots.${i}.id`]: ['must be the id of an uploaded screenshot'] } },
    })
  })
}
