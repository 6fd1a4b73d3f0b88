// Forms with texts of several lines. Optional: without this script they are sent as all forms are.

const texts = document.querySelectorAll('textarea[data-text]')
const numbers = new Intl.NumberFormat('en')

for (const text of texts) if (text.dataset.lengthMax) showLength(text, Number(text.dataset.lengthMax))
for (const form of new Set(Array.from(texts, (text) => text.form))) sendByScript(form)

// The length near the limit. The field takes more, since cutting a pasted text would lose its end without a word.
function showLength(text, lengthMax) {
  const count = document.createElement('p')
  count.id = `${text.id}-count`
  count.setAttribute('aria-live', 'polite')
  text.after(count)
  text.setAttribute('aria-describedby', `${text.getAttribute('aria-describedby') ?? ''} ${count.id}`.trim())
  let timer
  const show = () => {
    // In code points, as the server counts (src/kernel/text.ts).
    const length = Array.from(readSent(text)).length
    count.className = length > lengthMax ? 'error' : 'hint'
    count.textContent =
      length < lengthMax * 0.9 ? '' : `${numbers.format(length)} of ${numbers.format(lengthMax)} characters`
  }
  text.addEventListener('input', () => {
    // Screen readers would read each number.
    clearTimeout(timer)
    timer = setTimeout(show, 300)
  })
  // By public/drafts.js. Not `change`, which comes while a button is pressed: the count would move it away.
  text.addEventListener('filled', show)
  show()
}

// Sends a form without leaving the page, which stays with all its texts when that fails (docs/design/forms.md#sending).
function sendByScript(form) {
  let isUnderWay = false
  let isLeftToBrowser = false
  // Also when the browser shows again a page that was left.
  addEventListener('pageshow', () => setBusy(false))

  form.addEventListener('submit', (event) => {
    if (isLeftToBrowser || event.defaultPrevented) return
    event.preventDefault()
    if (!isUnderWay) send(event.submitter)
  })

  async function send(submitter) {
    // Before its button is disabled, whose value would be missing.
    const body = readBody(form, submitter)
    form.querySelector('[data-problem]')?.remove()
    setBusy(true, submitter)
    const answer = await post(
      submitter?.hasAttribute('formaction') ? submitter.formAction : form.action,
      body,
    )
    if (answer.location !== undefined) return leave(answer)
    setBusy(false)
    if (answer.isPage) return leaveToBrowser(submitter)
    form.append(answer.problem)
    submitter?.focus()
  }

  function setBusy(isBusy, submitter) {
    isUnderWay = isBusy
    for (const button of form.querySelectorAll('button')) {
      button.disabled = isBusy
      button.removeAttribute('aria-busy')
    }
    submitter?.setAttribute('aria-busy', 'true')
    // What is written meanwhile would be on neither page.
    for (const text of form.querySelectorAll('textarea')) text.readOnly = isBusy
  }

  // The page that the server sends has the texts to copy. Nothing has taken effect.
  function leaveToBrowser(submitter) {
    isLeftToBrowser = true
    form.requestSubmit(submitter)
    isLeftToBrowser = false
  }

  async function leave({ location: next, done }) {
    if (done) await announceSent()
    // So that leaving asks nothing (public/site.js).
    for (const text of form.querySelectorAll('textarea')) text.defaultValue = readSent(text)
    const { href, hash, origin } = new URL(next, location)
    if (origin !== location.origin) return
    if (hash !== '' && withoutHash(href) === withoutHash(location.href)) {
      history.replaceState(history.state, '', href)
      location.reload()
    } else location.assign(href)
    // When another text on the page makes the person stay.
    setTimeout(() => setBusy(false), 5_000)
  }

  // public/drafts.js then forgets the texts.
  async function announceSent() {
    const waits = []
    form.dispatchEvent(new CustomEvent('sent', { detail: (wait) => waits.push(wait) }))
    await Promise.allSettled(waits)
  }
}

// The text as it is sent (public/mentions.js).
function readSent(text) {
  return text.toSent?.() ?? text.value
}

const withoutHash = (href) => href.split('#')[0]

// As browsers encode forms.
function readBody(form, submitter) {
  const data = new FormData(form)
  if (submitter?.name) data.append(submitter.name, submitter.value)
  return new URLSearchParams(Array.from(data, ([name, value]) => [name, value.replace(/\r?\n/g, '\r\n')]))
}

// Answers of the server to a form that is not to be sent again as it is.
const statusesOfPages = [400, 403, 404, 409]

// Sends a form. Returns where it leads; or that the server has a page about it; or the problem.
async function post(url, body) {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { accept: 'application/json' },
      body,
      signal: AbortSignal.timeout(30_000),
    })
    if (answer.ok) return await answer.json()
    if (answer.type === 'opaqueredirect' || statusesOfPages.includes(answer.status)) return { isPage: true }
    return { problem: renderProblem(...describe(answer)) }
  } catch {
    return { problem: renderProblem(navigator.onLine ? 'The service does not answer.' : 'You are offline.') }
  }
}

function describe({ status, headers }) {
  if (status === 401) {
    const link = document.createElement('a')
    link.href = '/sign-in'
    link.target = '_blank'
    link.textContent = 'Sign in'
    return ['You are signed out. ', link, ', then send this again.']
  }
  if (status === 413) return ['This is too long to be sent.']
  const wait = describeWait(headers.get('retry-after'))
  if (status === 429) return [`Too many requests. ${wait}`]
  return [status === 503 ? `The service is unavailable. ${wait}` : 'Something went wrong. Try again later.']
}

// Seconds or a date (RFC 9110 section 10.2.3).
function describeWait(retryAfter) {
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000
  if (!(seconds > 0)) return 'Try again later.'
  const [count, unit] = seconds < 120 ? [Math.ceil(seconds), 'second'] : [Math.ceil(seconds / 60), 'minute']
  return `Try again in ${count} ${unit}${count === 1 ? '' : 's'}.`
}

function renderProblem(...parts) {
  const problem = document.createElement('p')
  problem.className = 'alert'
  problem.dataset.problem = ''
  problem.setAttribute('role', 'alert')
  const text = document.createElement('span')
  text.append(...parts, ' What you wrote is kept.')
  problem.append(text)
  return problem
}
