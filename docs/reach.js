// What the theme leaves out: the search has a name, and what is wider than the screen scrolls with the keyboard too.
function reach() {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, pre > code")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
}
document$.subscribe(() => requestAnimationFrame(reach));
addEventListener("resize", reach);
