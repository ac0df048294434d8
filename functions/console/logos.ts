import { parseLogoFile, parseScreenshotFile, renderLogo, renderScreenshot } from '#shared/catalogue/logos/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { RawResponse } from '#shared/http/response.ts'
import { fail } from '#shared/kernel/errors.ts'

/** Answers with an image of the platform’s own, which can’t do anything when it is opened by itself. */
const respond = (image: string): RawResponse =>
  new RawResponse(
    200,
    {
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; img-src data:; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    },
    image,
  )

const read = defineEndpoint({
  id: 'console.logos.read',
  group: 'console',
  method: 'GET',
  path: '/console/logos/{file}',
  caller: 'none',
  lenient: true,
  params: { file: 'text' },
  summary: 'Get a logo or avatar',
  description:
    'Serves the image that the platform fetched from an app’s `logo_url`, or a generated avatar, at the `logo_path` of ' +
    'other responses. Available without credentials. A path always shows the same image, so responses can be cached for a year.',
  produces: 'image/svg+xml',
  errors: ['not_found'],
  needs: ['logos:read'],
  handler: async ({ work, params }) => {
    const file = parseLogoFile(params.file)
    const image = file && (await renderLogo(work, file))
    if (image === undefined) {
      throw fail('not_found', {
        message: 'No logo has this path.',
        fix: 'Use the logo_path of a response without changes.',
      })
    }
    return respond(image)
  },
})

const screenshot = defineEndpoint({
  id: 'console.screenshots.read',
  group: 'console',
  method: 'GET',
  path: '/console/screenshots/{file}',
  caller: 'none',
  lenient: true,
  params: { file: 'text' },
  summary: 'Get a screenshot',
  description:
    'Serves an image of an app’s listing at the `path` of other responses. Available without credentials. A path always shows ' +
    'the same image, so responses can be cached for a year.',
  produces: 'image/svg+xml',
  errors: ['not_found'],
  needs: ['logos:read'],
  handler: async ({ work, params }) => {
    const file = parseScreenshotFile(params.file)
    const image = file && (await renderScreenshot(work, file))
    if (image === undefined) {
      throw fail('not_found', {
        message: 'No screenshot has this path.',
        fix: 'Use the path of a response without changes.',
      })
    }
    return respond(image)
  },
})

export const endpoints = [read, screenshot]
