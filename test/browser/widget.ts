import type { Page } from 'playwright-core'

export const WIDGET = 'https://telegram.org/js/telegram-widget.js'

/**
 * Answers in place of Telegram, in the same way: the script adds a frame, whose button reports a signed answer to the page,
 * and the script goes to `data-auth-url` with it.
 * @returns addresses at which the script was requested
 */
export const routeWidget = async (page: Page, answer: object): Promise<string[]> => {
  const asked: string[] = []
  await page.route(`${WIDGET}**`, (route) => {
    asked.push(route.request().url())
    return route.fulfill({
      contentType: 'text/javascript',
      body: `const here = document.currentScript, frame = document.createElement('iframe')
        const { telegramLogin, authUrl } = here.dataset
        frame.src = 'https://oauth.telegram.org/embed/' + telegramLogin + '?origin=' + encodeURIComponent(location.origin)
        here.parentNode.insertBefore(frame, here)
        addEventListener('message', ({ source, origin, data }) => {
          if (source !== frame.contentWindow || origin !== 'https://oauth.telegram.org') return
          location.href = authUrl + (authUrl.includes('?') ? '&' : '?') + new URLSearchParams(JSON.parse(data).auth_data)
        })`,
    })
  })
  await page.route('https://oauth.telegram.org/embed/**', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<!doctype html><html lang="en"><title>Sign in</title><button>Log in as ${new URL(route.request().url()).pathname.slice(7)}</button>
        <script>document.querySelector('button').onclick = () => parent.postMessage(
          JSON.stringify({ event: 'auth_user', auth_data: ${JSON.stringify(answer)} }), '*')</script>`,
    }),
  )
  return asked
}

/** Finds the button in the widget's frame, which has a name for people who can't see it. */
export const widgetButton = (page: Page) =>
  page.frameLocator('iframe[title="Sign in with Telegram"]').getByRole('button', { name: 'Log in as platform_bot' })
