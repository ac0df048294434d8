import * as z from 'zod'
import { name } from '#shared/foundation/schemas/index.ts'

/** Most screenshots of a listing. */
const MOST = 8

/** Most bytes of an image. */
export const MOST_BYTES = 2_000_000

/** Longest body of an upload: the image in base64, and the JSON around it. */
export const UPLOAD_BODY_BYTES = Math.ceil(MOST_BYTES / 3) * 4 + 1_000

/** An image of 320 × 320 black pixels. */
const SAMPLE =
  'iVBORw0KGgoAAAANSUhEUgAAAUAAAAFAAQAAAADl65gHAAAAI0lEQVR42u3BAQ0AAADCoPdPbQ8HFAAAAAAAAAAAAAAAAPwaM0AAAWQoMfMAAAAASUVORK5CYII='

const screenshotId = () =>
  z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be the id of an uploaded screenshot')
    .meta({ description: 'SHA-256 of the image.', example: 'c0'.repeat(32) })

/** Screenshots in the body of `PATCH /api/v1/dev/apps/{id}`, in the order in which customers see them. */
export const screenshotsInput = () =>
  z
    .array(
      z.strictObject({
        id: screenshotId(),
        caption: name(120).meta({
          description: 'Shown below the image, and read to people who can’t see it.',
          example: 'The shelves of a shop, with what is running out',
        }),
      }),
    )
    .max(MOST, `must have at most ${MOST} screenshots`)
    .refine((list) => new Set(list.map(({ id }) => id)).size === list.length, 'must not have the same image twice')
    .meta({ example: [] })

/** Body of `POST /api/v1/dev/apps/{id}/screenshots`. */
export const UploadScreenshot = () =>
  z
    .strictObject({
      image: z.base64().max(UPLOAD_BODY_BYTES).meta({
        description: 'The image, in base64: PNG, JPEG or WebP, 320 to 3840 pixels a side, at most 2 MB.',
        example: SAMPLE,
      }),
    })
    .meta({ id: 'UploadScreenshot' })

const shape = () => ({
  id: screenshotId(),
  path: z.string().meta({
    description: 'Path of the image on the platform, relative to its base URL. It always shows the same image.',
    example: `/console/screenshots/app_01h2xcejqtf2nbrexx3vqjhp41.${'c0'.repeat(32)}`,
  }),
  width: z.number().int().meta({ description: 'In pixels.', example: 1_280 }),
  height: z.number().int().meta({ description: 'In pixels.', example: 800 }),
})

/** An uploaded image, which a listing may show. */
export const UploadedScreenshotSchema = () => z.object(shape()).meta({ id: 'UploadedScreenshot' })

/** A screenshot of a listing. */
export const ScreenshotSchema = () =>
  z.object({ ...shape(), caption: z.string().meta({ example: 'The shelves of a shop' }) }).meta({ id: 'Screenshot' })

export type UploadedView = z.infer<ReturnType<typeof UploadedScreenshotSchema>>
export type ScreenshotView = z.infer<ReturnType<typeof ScreenshotSchema>>
