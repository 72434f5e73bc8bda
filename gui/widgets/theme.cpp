#include "gui/widgets/theme.hpp"

namespace tcsim::gui {

Theme Theme::of(const QPalette& palette) {
  return {palette.color(QPalette::Window).lightnessF() < 0.5};
}

QPalette Theme::palette(bool dark) {
  const Theme t{dark};
  QPalette p;
  const QColor window = dark ? QColor(0x27, 0x2a, 0x2f) : QColor(0xf3, 0xf4, 0xf6);
  const QColor button = dark ? QColor(0x34, 0x38, 0x3e) : QColor(0xfb, 0xfb, 0xfc);
  p.setColor(QPalette::Window, window);
  p.setColor(QPalette::WindowText, t.text());
  p.setColor(QPalette::Base, t.paper());
  p.setColor(QPalette::AlternateBase, dark ? QColor(0x25, 0x28, 0x2d) : QColor(0xf7, 0xf8, 0xfa));
  p.setColor(QPalette::Text, t.text());
  p.setColor(QPalette::Button, button);
  p.setColor(QPalette::ButtonText, t.text());
  p.setColor(QPalette::ToolTipBase, button);
  p.setColor(QPalette::ToolTipText, t.text());
  p.setColor(QPalette::PlaceholderText, t.faint());
  p.setColor(QPalette::Highlight, t.accent());
  p.setColor(QPalette::HighlightedText, dark ? QColor(Qt::black) : QColor(Qt::white));
  p.setColor(QPalette::Link, t.accent());
  p.setColor(QPalette::Light, dark ? QColor(0x40, 0x45, 0x4c) : QColor(Qt::white));
  p.setColor(QPalette::Midlight, dark ? QColor(0x38, 0x3c, 0x42) : QColor(0xe9, 0xeb, 0xee));
  p.setColor(QPalette::Mid, dark ? QColor(0x4a, 0x50, 0x58) : QColor(0xc4, 0xc9, 0xd0));
  p.setColor(QPalette::Dark, dark ? QColor(0x15, 0x17, 0x1a) : QColor(0x9a, 0xa0, 0xa8));
  p.setColor(QPalette::Shadow, QColor(Qt::black));
  for (auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    p.setColor(QPalette::Disabled, role,
               dark ? QColor(0x75, 0x7b, 0x83) : QColor(0xa0, 0xa6, 0xad));
  }
  return p;
}

QColor Theme::colour(Ink ink) const {
  switch (ink) {
    case Ink::text:
    case Ink::here:
      return text();
    case Ink::faint:
      return faint();
    case Ink::baseline:
    case Ink::pin0:
      return dark ? QColor(0xa8, 0xad, 0xb5) : QColor(0x7d, 0x84, 0x8d);
    case Ink::compute:
      return {0xcc, 0x79, 0xa7};
    case Ink::A:
    case Ink::link0:
      return dark ? QColor(0x3f, 0x9b, 0xdb) : QColor(0x00, 0x72, 0xb2);
    case Ink::B:
    case Ink::link1:
      return {0xe6, 0x9f, 0x00};
    case Ink::C:
    case Ink::link2:
      return dark ? QColor(0x1f, 0xb9, 0x8c) : QColor(0x00, 0x9e, 0x73);
    case Ink::link3:
      return dark ? QColor(0xee, 0x7a, 0x2c) : QColor(0xd5, 0x5e, 0x00);
    case Ink::packedA:
    case Ink::link4:
      return {0x56, 0xb4, 0xe9};
    case Ink::packedB:
    case Ink::link5:
      return dark ? QColor(0xf0, 0xe4, 0x42) : QColor(0xd6, 0xc6, 0x1d);
    case Ink::pin1:
      return dark ? QColor(0x9a, 0x8d, 0xe0) : QColor(0x33, 0x22, 0x88);
    case Ink::pin2:
      return dark ? QColor(0xd8, 0x6f, 0xa8) : QColor(0x88, 0x22, 0x55);
    case Ink::pin3:
      return dark ? QColor(0xbd, 0xbd, 0x54) : QColor(0x80, 0x80, 0x20);
    case Ink::pin4:
      return {0x44, 0xaa, 0x99};
    case Ink::pin5:
      return {0xcc, 0x66, 0x77};
  }
  return text();
}

Qt::PenStyle Theme::dash(Ink ink) const {
  switch (ink) {
    case Ink::link1:
    case Ink::pin0:
    case Ink::pin4:
      return Qt::DashLine;
    case Ink::link2:
    case Ink::pin1:
    case Ink::pin5:
      return Qt::DashDotLine;
    case Ink::link3:
    case Ink::pin2:
      return Qt::DotLine;
    case Ink::link4:
    case Ink::pin3:
      return Qt::DashDotDotLine;
    default:
      return Qt::SolidLine;
  }
}

Qt::BrushStyle Theme::pattern(Ink ink) const {
  switch (ink) {
    case Ink::compute:
    case Ink::packedA:
      return Qt::BDiagPattern;
    case Ink::packedB:
      return Qt::FDiagPattern;
    default:
      return Qt::SolidPattern;
  }
}

}  // namespace tcsim::gui
