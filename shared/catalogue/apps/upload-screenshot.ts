import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { type ImageSize, readImageSize } from '#shared/kernel/image-size.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { logoObject } from '../logos/path.ts'
import { newImageMark } from '../logos/request.ts'
import { hashLogo } from '../logos/serve.ts'
import { AppEntity } from './entity.ts'
import { logoChangeWrites } from './logos.ts'
import { loadOwnApp } from './read.ts'
import { MOST_BYTES, type UploadedView } from './screenshot-schemas.ts'
import { presentUpload } from './screenshots.ts'

/** Uploads of an app that stay without being shown. With one more, the oldest goes. */
const KEPT_UPLOADS = 16

/** Least and most pixels of a side. */
const SIDES = [320, 3_840] as const

const invalidImage = (message: string) =>
  fail('validation_error', {
    message,
    fix: `Send a PNG, JPEG or WebP image of ${SIDES[0]} to ${SIDES[1]} pixels a side and at most 2 MB.`,
    details: { fields: { image: ['must be a PNG, JPEG or WebP image within the limits'] } },
  })

const checkImage = (bytes: Uint8Array): ImageSize => {
  if (bytes.byteLength > MOST_BYTES) throw invalidImage('The image is larger than 2 MB.')
  const size = readImageSize(bytes)
  if (!size || size.format === 'gif') throw invalidImage('The content isn’t a PNG, JPEG or WebP image.')
  if ([size.width, size.height].some((side) => side < SIDES[0] || side > SIDES[1]))
    throw invalidImage(`The image is ${size.width} × ${size.height} pixels.`)
  return size
}

/**
 * Stores an image that the app's listing may then show. Nobody sees it before that. The same image gets the same id.
 * @throws `not_found`, `validation_error`
 */
export const uploadScreenshot = async (
  work: Work,
  developerId: string,
  appId: string,
  image: string,
): Promise<UploadedView> => {
  const bytes = Buffer.from(image, 'base64')
  return retryOnConflict(async () => {
    const app = await loadOwnApp(work, developerId, appId)
    const { format, width, height } = checkImage(bytes)
    const upload = { id: hashLogo(bytes), width, height }
    const view = presentUpload(appId, upload)
    const object = logoObject(appId, upload.id)
    const store = () => work.objects.put(object, bytes, `image/${format}`)
    await withoutAnswer(work).commit([await newImageMark(work, appId, upload.id)])
    await store()
    const uploads = [...(app.uploads ?? []).filter(({ id }) => id !== upload.id), upload].slice(-KEPT_UPLOADS)
    await work.commit(
      [
        AppEntity.update(
          { id: appId },
          { set: { uploads } },
          { where: { developer_id: developerId, uploads: app.uploads ?? missing } },
        ),
        ...(await logoChangeWrites(work, app, { ...app, uploads })),
        auditDeveloper(
          work,
          developerId,
          'app.screenshot_uploaded',
          { type: 'app', id: appId },
          { screenshot_id: upload.id },
        ),
      ],
      view,
    )
    // A worker may have deleted the same image in the meantime, because nothing referred to it.
    if ((await work.objects.head(object)) === undefined) await store()
    return view
  })
}
