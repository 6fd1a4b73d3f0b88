// The board of seeds: cards are dragged, and moved without leaving the page, and lanes show more in place. Without this
// script, the menus of cards are forms, and lanes show more by a link.

const board = document.querySelector('.board')
const form = board?.closest('form')

// A workspace without seeds has no board, and viewers move nothing.
if (board) letLanesGrow()
if (form) letCardsMove()

function letLanesGrow() {
  board.addEventListener('click', async (event) => {
    const link = event.target.closest('a[data-more]')
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    if (link.ariaBusy === 'true') return
    link.ariaBusy = 'true'
    const { status } = link.closest('.lane').dataset
    const address = new URL(link.href)
    address.hash = ''
    try {
      const { fresh } = await fetchBoard(address)
      if (!fresh) throw new Error('There is no board.')
      const shown = laneOf(status).querySelectorAll('li').length
      const scrolled = lanes().map((lane) => lane.querySelector('ul').scrollTop)
      history.replaceState(history.state, '', address)
      board.dispatchEvent(new CustomEvent('fresh', { detail: fresh }))
      for (const [i, lane] of lanes().entries()) lane.querySelector('ul').scrollTop = scrolled[i]
      // Who used the keyboard goes on with what is new.
      laneOf(status).querySelectorAll('li .title').item(shown)?.focus()
    } catch {
      location.assign(link.href)
    }
  })
}

async function fetchBoard(url, options) {
  const answer = await fetch(url, options)
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  return { answer, page, fresh: page.querySelector('.board') }
}

function lanes() {
  return [...board.querySelectorAll('.lane')]
}

function laneOf(name) {
  return board.querySelector(`.lane[data-status="${name}"]`)
}

function letCardsMove() {
  const status = document.createElement('p')
  status.setAttribute('role', 'status')
  form.before(status)
  let dragged

  // The menu of a card.
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    event.stopPropagation()
    const button = event.submitter
    move(button.closest('li'), laneOf(button.value), new URL(button.formAction))
  })

  board.addEventListener('pointerdown', ({ target, pointerType }) => {
    const card = target.closest('[data-movable]')
    // A finger scrolls. It moves a card by the menu.
    if (card) card.draggable = pointerType === 'mouse' && !target.closest('details')
  })
  board.addEventListener('dragstart', (event) => {
    dragged = event.target.closest?.('[data-movable]')
    if (!dragged) return
    event.dataTransfer.effectAllowed = 'move'
    event.dataTransfer.setData('text/plain', dragged.querySelector('.title').href)
    // The board is in use: it is not refreshed meanwhile.
    dragged.querySelector('.title').focus({ preventScroll: true })
  })
  board.addEventListener('dragover', (event) => {
    const lane = event.target.closest('.lane')
    if (!dragged || !lane) return
    event.preventDefault()
    mark(lane.contains(dragged) ? undefined : lane)
  })
  board.addEventListener('drop', (event) => {
    const lane = event.target.closest('.lane')
    if (!dragged || !lane || lane.contains(dragged)) return
    event.preventDefault()
    // Any of its moves has the URL.
    const url = new URL(dragged.querySelector('button[formaction]').formAction)
    move(dragged, lane, url)
  })
  board.addEventListener('dragend', () => {
    mark(undefined)
    dragged = undefined
  })

  // Moves a card at once, and shows the board that the server answers: if it refuses, the card is back in its place.
  async function move(card, lane, url) {
    const place = { list: card.parentElement, next: card.nextElementSibling }
    const isFocused = card.contains(document.activeElement)
    const fields = new URLSearchParams(new FormData(form))
    fields.set('status', lane.dataset.status)
    const from = card.getBoundingClientRect()
    lane.querySelector('ul').prepend(card)
    glide(card, from)
    try {
      const { answer, page, fresh } = await fetchBoard(url, { method: 'POST', body: fields })
      // Such as the page for signing in.
      if (!fresh) {
        location.assign(answer.url)
        return
      }
      const message = page.querySelector('main .alert') ?? page.querySelector('main .notice')
      say(message?.textContent.trim() ?? '', message?.classList.contains('alert'))
      // public/site.js shows it.
      board.dispatchEvent(new CustomEvent('fresh', { detail: fresh }))
      if (isFocused) document.getElementById(card.id)?.querySelector('summary').focus()
    } catch {
      place.list.insertBefore(card, place.next)
      say('The card could not be moved. Try again.', true)
    }
  }

  // Shows where a card went.
  function glide(card, from) {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
    const to = card.getBoundingClientRect()
    const start = `translate(${from.left - to.left}px, ${from.top - to.top}px)`
    card.animate([{ transform: start }, { transform: 'none' }], { duration: 180, easing: 'ease-out' })
  }

  function say(text, isError) {
    status.className = text === '' ? '' : isError ? 'alert' : 'notice'
    status.textContent = text
  }

  function mark(lane) {
    for (const other of lanes()) other.classList.toggle('over', other === lane)
  }
}
